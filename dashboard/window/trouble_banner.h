// Shows the problems of the open runs, and warnings about their files, above the pages while they
// last. GUI thread only.
//
// It keeps texts and no pointer to a run. Problems come from files and networks, so their texts are
// shown as plain text.
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

  // Shows the problems of the runs. Without any the banner is hidden.
  void show_trouble(const std::vector<RunSession*>& runs);
  // Shows a refused action. It disappears when the user dismisses it or with the next call.
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
