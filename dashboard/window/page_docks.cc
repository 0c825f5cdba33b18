#include "dashboard/window/page_docks.h"

#include <QDockWidget>
#include <algorithm>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {
namespace {

// Must change when the set of pages changes, so that old layouts are ignored.
constexpr int kLayoutVersion = 2;
constexpr const char* kLayoutKey = "window/pages";
constexpr const char* kFirstPage = "overview";

// A page that is not visible skips its refreshes, so it is refreshed when it becomes visible.
void bring_up_to_date(Page& page) {
  page.refresh();
  for (PlotView* view : page.findChildren<PlotView*>()) view->group().touch();
}

}  // namespace

PageDocks::PageDocks(std::vector<std::unique_ptr<Page>> pages, QWidget* parent)
    : QMainWindow(parent) {
  setWindowFlags(Qt::Widget);
  setDockOptions(AllowNestedDocks | AllowTabbedDocks | GroupedDragging);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  for (std::unique_ptr<Page>& page : pages) {
    auto* dock = new QDockWidget(page->title(), this);
    dock->setObjectName("page " + page->name());
    pages_.push_back(page.get());
    dock->setWidget(page.release());
    docks_.push_back(dock);
    connect(dock, &QDockWidget::visibilityChanged, pages_.back(),
            [page = pages_.back()](bool seen) {
              if (seen) bring_up_to_date(*page);
            });
  }
  reset();
}

Page* PageDocks::page(const QString& name) const {
  const auto found =
      std::ranges::find_if(pages_, [&](const Page* page) { return page->name() == name; });
  return found == pages_.end() ? nullptr : *found;
}

bool PageDocks::show_page(const QString& name) {
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    if (pages_[i]->name() != name) continue;
    docks_[i]->show();
    docks_[i]->raise();
    pages_[i]->setFocus(Qt::ShortcutFocusReason);
    return true;
  }
  return false;
}

// A dock behind another tab counts as shown, although no part of it is visible.
bool PageDocks::page_in_sight(const QString& name) const {
  const Page* const found = page(name);
  return found != nullptr && !found->visibleRegion().isEmpty();
}

QAction* PageDocks::toggle_action(std::size_t page) const {
  return docks_[page]->toggleViewAction();
}

void PageDocks::save(QSettings& settings) const {
  settings.setValue(kLayoutKey, saveState(kLayoutVersion));
}

// Without a saved layout the one of reset() stays.
void PageDocks::restore(const QSettings& settings) {
  const QByteArray state = settings.value(kLayoutKey).toByteArray();
  if (state.isEmpty()) return;
  // A layout of another version is not restored.
  if (!restoreState(state, kLayoutVersion)) reset();
}

// All pages as tabs of one area, in their order.
void PageDocks::reset() {
  for (QDockWidget* dock : docks_) {
    dock->setFloating(false);
    removeDockWidget(dock);
  }
  for (QDockWidget* dock : docks_) {
    addDockWidget(Qt::TopDockWidgetArea, dock);
    if (dock != docks_.front()) tabifyDockWidget(docks_.front(), dock);
    dock->show();
  }
  show_page(kFirstPage);
}

}  // namespace tributary::dashboard
