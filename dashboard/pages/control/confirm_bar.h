// Asks once more before something is lost for good: in the page, so that it holds nothing else up.
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

  // In the place of what it asked before. The button that keeps everything as it is has the keys.
  void ask(const ControlRequest& request);
  void give_up();
  bool asks() const { return request_.has_value(); }

  QPushButton& yes() { return *yes_; }
  QPushButton& no() { return *no_; }

 signals:
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
