// The legend of one view: its entries with their values and places, and which of them are hidden.
//
// An entry stands for all content with its key. What is hidden stays hidden while the entries are
// listed anew, also while none of them has the key. Threads: that of the widgets.
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

struct LegendEntry {
  QString key = {};
  QString name = {};
  QString value = {};  // stands beside the name
  QRectF rect = {};    // empty: there was no room for it
};

class Legend : public QObject {
  Q_OBJECT

 public:
  void list(std::vector<LegendEntry> entries);
  const std::vector<LegendEntry>& entries() const { return entries_; }

  // Hides all other entries; shows them again, if they are hidden already.
  void isolate(const QString& key);
  void toggle(const QString& key);
  void show_all();
  bool shown(const QString& key) const { return !hidden_.contains(key); }

  void clear_values();
  void set_value(const QString& key, const QString& value);  // nothing happens without the entry
  QString value_of(const QString& key) const;

  // `layout` was made for as many entries as there are.
  void place(const LegendLayout& layout);
  QRect rect_of(const QString& key) const;
  const LegendEntry* entry_at(QPointF pixel) const;  // null: none
  // The note about the entries without room.
  const QRectF& more_rect() const { return more_; }
  std::size_t left_out() const { return left_out_; }

 signals:
  void changed();  // another entry is hidden or shown

 private:
  const LegendEntry* find(const QString& key) const;

  std::vector<LegendEntry> entries_;
  std::set<QString> hidden_;  // keys
  QRectF more_;
  std::size_t left_out_ = 0;
};

}  // namespace tributary::dashboard
