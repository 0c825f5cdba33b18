#include "dashboard/window/window_actions.h"

#include <QMenu>
#include <QMenuBar>

namespace tributary::dashboard {
namespace {

// Alt+1 to Alt+9; there is no key for a tenth page.
constexpr std::size_t kPagesWithKeys = 9;

}  // namespace

WindowActions::WindowActions(QMainWindow& window, PageDocks& docks)
    : QObject(&window), window_(window) {
  QMenu& runs = *window.menuBar()->addMenu("&Runs");
  open = add(runs, "&Open a run…", {QKeySequence("Ctrl+O")});
  connect_run = add(runs, "&Connect to a coordinator…", {QKeySequence("Ctrl+Shift+O")});
  close_run = add(runs, "C&lose newest run", {QKeySequence("Ctrl+W")});
  save_picture = add(runs, "&Save page as picture…", {QKeySequence("Ctrl+S")});
  runs.addSeparator();
  quit = add(runs, "&Quit", {QKeySequence("Ctrl+Q")});
  add_pages(*window.menuBar()->addMenu("&Pages"), docks);
  QMenu& view = *window.menuBar()->addMenu("&View");
  over_time = add(view, "X axis: &time", {QKeySequence("Ctrl+T")});
  over_time->setCheckable(true);
  live = add(view, "&Live: follow new data", {QKeySequence("Ctrl+L")});
  live->setCheckable(true);
  live->setChecked(true);
  view.addSeparator();
  undo_zoom = add(view, "&Undo the zoom", {QKeySequence("Ctrl+Z")});
  redo_zoom = add(view, "&Redo the zoom", {QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")});
  fit = add(view, "Show &all", {QKeySequence("Ctrl+0")});
  view.addSeparator();
  full_screen = add(view, "&Full screen", {QKeySequence("F11")});
  full_screen->setCheckable(true);
  reset_layout = add(view, "Reset the la&yout", {QKeySequence("Ctrl+Shift+R")});
  QMenu& about = *window.menuBar()->addMenu("&Help");
  help = add(about, "&Keys", {QKeySequence("?"), QKeySequence("F1")});
}

QAction* WindowActions::add(QMenu& menu, const QString& text, const QList<QKeySequence>& keys) {
  QAction* const action = menu.addAction(text);
  action->setShortcuts(keys);
  window_.addAction(action);  // the keys also work while the menu bar is hidden
  all_.push_back(action);
  return action;
}

// "Shown" lists the same pages with a check mark, to close them and to open them again.
void WindowActions::add_pages(QMenu& menu, PageDocks& docks) {
  for (std::size_t i = 0; i < docks.pages().size(); ++i) {
    const Page& page = *docks.pages()[i];
    QList<QKeySequence> keys;
    if (i < kPagesWithKeys) keys.push_back(QKeySequence(QString("Alt+%1").arg(i + 1)));
    QAction* const action = add(menu, page.title(), keys);
    connect(action, &QAction::triggered, this,
            [this, name = page.name()] { emit page_requested(name); });
  }
  QMenu& closed = *menu.addMenu("&Shown");
  for (std::size_t i = 0; i < docks.pages().size(); ++i) closed.addAction(docks.toggle_action(i));
}

std::vector<const QAction*> WindowActions::all() const { return {all_.begin(), all_.end()}; }

}  // namespace tributary::dashboard
