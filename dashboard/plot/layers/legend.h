// The legend of one view: its entries with their values and positions, and which of them are
// hidden.
//
// An entry stands for all content with its key. A hidden key stays hidden when the entries change,
// even while no entry has it. Threads: the GUI thread.
#pragma once

#include <QObject>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <cstddef>
#include <set>
#include <vector>

#include "dashboard/plot/layers/legend_layout.h"

namespace tributary::dashboard {

// One entry. Its key also identifies the curves, bars and stretches that it hides and shows.
struct LegendEntry {
  QString key = {};
  QString name = {};
  QString value = {};  // shown beside the name
  QRectF rect = {};    // empty: no room for the entry
};

class Legend : public QObject {
  Q_OBJECT

 public:
  // Replaces all entries.
  void list(std::vector<LegendEntry> entries);
  const std::vector<LegendEntry>& entries() const { return entries_; }

  // Hides all other entries. If they are already hidden, shows them again.
  void isolate(const QString& key);
  void toggle(const QString& key);
  void show_all();
  bool shown(const QString& key) const { return !hidden_.contains(key); }

  void clear_values();
  void set_value(const QString& key, const QString& value);  // ignored if no entry has the key
  QString value_of(const QString& key) const;

  // `layout` must have been made for the current number of entries.
  void place(const LegendLayout& layout);
  QRect rect_of(const QString& key) const;
  const LegendEntry* entry_at(QPointF pixel) const;  // null: no entry is there
  // The rectangle of the note about entries without room.
  const QRectF& more_rect() const { return more_; }
  std::size_t left_out() const { return left_out_; }

 signals:
  void changed();  // an entry was hidden or shown

 private:
  const LegendEntry* find(const QString& key) const;

  std::vector<LegendEntry> entries_;
  std::set<QString> hidden_;  // keys
  QRectF more_;
  std::size_t left_out_ = 0;
};

}  // namespace tributary::dashboard
