// The pages as panels that a person moves, splits and closes, and the memory of where they were.
#pragma once

#include <QMainWindow>
#include <QSettings>
#include <QString>
#include <memory>
#include <vector>

#include "dashboard/pages/common/page.h"

class QAction;
class QDockWidget;

namespace tributary::dashboard {

class PageDocks : public QMainWindow {
  Q_OBJECT

 public:
  explicit PageDocks(std::vector<std::unique_ptr<Page>> pages, QWidget* parent = nullptr);

  const std::vector<Page*>& pages() const { return pages_; }
  Page* page(const QString& name) const;  // null: there is none
  // Opens it if it was closed, brings it to the front, and gives it the keys.
  bool show_page(const QString& name);
  bool page_in_sight(const QString& name) const;
  QAction* toggle_action(std::size_t page) const;

  // Memory. A layout of another set of pages is not taken.
  void save(QSettings& settings) const;
  void restore(const QSettings& settings);
  // As on the first day: all pages in one place, the first in front.
  void reset();

 private:
  std::vector<Page*> pages_;  // their docks own them
  std::vector<QDockWidget*> docks_;
};

}  // namespace tributary::dashboard
