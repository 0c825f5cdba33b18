#include "dashboard/pages/control/confirm_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <utility>

namespace tributary::dashboard {

ConfirmBar::ConfirmBar(QWidget* parent) : QFrame(parent) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  text_ = new QLabel;
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setForegroundRole(QPalette::ToolTipText);
  text_->setAccessibleName("Confirmation");
  yes_ = new QPushButton;
  no_ = new QPushButton("Cancel");
  auto* const row = new QHBoxLayout(this);
  row->addWidget(text_, 1);
  row->addWidget(no_);
  row->addWidget(yes_);
  connect(yes_, &QPushButton::clicked, this, &ConfirmBar::confirm);
  connect(no_, &QPushButton::clicked, this, &ConfirmBar::give_up);
  hide();
}

void ConfirmBar::ask(const ControlRequest& request) {
  request_ = request;
  text_->setText("⚠ " + request.warning);
  yes_->setText(request.verb);
  show();
  // The harmless answer has the focus, so that Enter does not confirm by accident.
  no_->setFocus();
}

void ConfirmBar::give_up() {
  request_.reset();
  hide();
}

void ConfirmBar::confirm() {
  // The request is cleared first, because the receiver may ask a new question.
  const std::optional<ControlRequest> request = std::exchange(request_, {});
  hide();
  if (request) emit confirmed(*request);
}

void ConfirmBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    give_up();
    return;
  }
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && (yes_->hasFocus() || no_->hasFocus())) {
    (yes_->hasFocus() ? yes_ : no_)->click();
    return;
  }
  QFrame::keyPressEvent(event);
}

}  // namespace tributary::dashboard
