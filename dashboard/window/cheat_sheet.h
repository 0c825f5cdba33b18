// All keys on one sheet. It lies beside the window and holds nothing up; Escape puts it away.
#pragma once

#include <QAction>
#include <QDialog>
#include <vector>

namespace tributary::dashboard {

class CheatSheet : public QDialog {
  Q_OBJECT

 public:
  explicit CheatSheet(const std::vector<const QAction*>& actions, QWidget* parent = nullptr);
};

}  // namespace tributary::dashboard
