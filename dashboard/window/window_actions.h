// All actions of the window, with their menus and keys. The cheat sheet lists the same actions. GUI
// thread only; the window owns the actions.
//
// The object only emits signals and enables actions; main_window.cc connects their effects.
#pragma once

#include <QAction>
#include <QMainWindow>
#include <QString>
#include <vector>

#include "dashboard/window/page_docks.h"

namespace tributary::dashboard {

class WindowActions : public QObject {
  Q_OBJECT

 public:
  WindowActions(QMainWindow& window, PageDocks& docks);

  QAction* open = nullptr;
  QAction* connect_run = nullptr;
  QAction* close_run = nullptr;
  QAction* save_picture = nullptr;
  QAction* quit = nullptr;
  QAction* over_time = nullptr;  // checkable; unchecked: over rounds
  QAction* live = nullptr;       // checkable; unchecked: paused
  QAction* undo_zoom = nullptr;
  QAction* redo_zoom = nullptr;
  QAction* fit = nullptr;
  QAction* full_screen = nullptr;
  QAction* reset_layout = nullptr;
  QAction* help = nullptr;

  // Returns the actions in the order of the menus.
  std::vector<const QAction*> all() const;

 signals:
  void page_requested(const QString& name);

 private:
  QAction* add(QMenu& menu, const QString& text, const QList<QKeySequence>& keys);
  void add_pages(QMenu& menu, PageDocks& docks);

  QMainWindow& window_;
  std::vector<QAction*> all_;
};

}  // namespace tributary::dashboard
