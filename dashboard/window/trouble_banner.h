// What is wrong with the open files, said above the pages as long as it is so.
#pragma once

#include <QFrame>
#include <QString>
#include <vector>

#include "dashboard/session/run_session.h"

class QLabel;
class QToolButton;

namespace tributary::dashboard {

class TroubleBanner : public QFrame {
  Q_OBJECT

 public:
  explicit TroubleBanner(QWidget* parent = nullptr);

  // Hides itself where there is none.
  void show_trouble(const std::vector<RunSession*>& runs);
  // Something that was asked for and refused; goes when somebody has read it, or with the next.
  void show_refusal(const Status& status);
  QString text() const;

 private:
  void update_text();

  QLabel* label_ = nullptr;
  QToolButton* dismiss_ = nullptr;
  QString trouble_;
  QString refusal_;
};

}  // namespace tributary::dashboard
