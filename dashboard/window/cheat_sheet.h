// Lists all keys in a separate window. It does not block the main window, and Escape closes it. GUI
// thread only. The texts are made once, when the window opens.
#pragma once

#include <QAction>
#include <QDialog>
#include <vector>

namespace tributary::dashboard {

class CheatSheet : public QDialog {
  Q_OBJECT

  // Lists the keys of `actions` and those that charts, tables and pages handle themselves.
 public:
  explicit CheatSheet(const std::vector<const QAction*>& actions, QWidget* parent = nullptr);
};

}  // namespace tributary::dashboard
