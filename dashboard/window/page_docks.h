// Shows the pages as dock panels that the user can move, split and close, and saves their layout.
// GUI thread only.
//
// Docks own the pages; pointers from pages() are valid as long as this object. A saved layout is
// untrusted input: Qt checks it, and one that does not fit is ignored.
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
  Page* page(const QString& name) const;  // null: no such page
  // Opens the page if it was closed, brings it to the front and gives it the focus.
  bool show_page(const QString& name);
  // Whether any part of the page is visible.
  bool page_in_sight(const QString& name) const;
  QAction* toggle_action(std::size_t page) const;

  // Save and restore the layout. A layout with another set of pages is ignored.
  void save(QSettings& settings) const;
  void restore(const QSettings& settings);
  // Restores the initial layout: all pages as tabs in one place, the first one in front.
  void reset();

 private:
  std::vector<Page*> pages_;  // owned by their docks
  std::vector<QDockWidget*> docks_;
};

}  // namespace tributary::dashboard
