// Asks for confirmation before an action that cannot be undone. The bar is part of the page and not
// a dialog, so that the page stays usable. GUI thread only.
//
// It holds at most one request and sends nothing itself: the page does that when confirmed() is
// emitted. Escape cancels.
#pragma once

#include <QFrame>
#include <optional>

#include "dashboard/pages/control/control_request.h"

class QLabel;
class QPushButton;

namespace tributary::dashboard {

class ConfirmBar : public QFrame {
  Q_OBJECT

 public:
  explicit ConfirmBar(QWidget* parent = nullptr);

  // Shows a question, which replaces an earlier one. The button that cancels has the focus.
  void ask(const ControlRequest& request);
  // Cancels the question.
  void give_up();
  // Whether a question is open.
  bool has_question() const { return request_.has_value(); }

  QPushButton& yes() { return *yes_; }
  QPushButton& no() { return *no_; }

 signals:
  // The user has confirmed the request.
  void confirmed(const tributary::dashboard::ControlRequest& request);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void confirm();

  QLabel* text_;
  QPushButton* yes_;
  QPushButton* no_;
  std::optional<ControlRequest> request_;
};

}  // namespace tributary::dashboard
