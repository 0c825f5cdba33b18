#include "dashboard/window/trouble_banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

namespace tributary::dashboard {

TroubleBanner::TroubleBanner(QWidget* parent) : QFrame(parent) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  label_ = new QLabel;
  label_->setTextFormat(Qt::PlainText);
  label_->setWordWrap(true);
  label_->setForegroundRole(QPalette::ToolTipText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  label_->setAccessibleName("Errors");
  dismiss_ = new QToolButton;
  dismiss_->setText("Dismiss");
  dismiss_->setAutoRaise(true);
  auto* row = new QHBoxLayout(this);
  row->addWidget(label_, 1);
  row->addWidget(dismiss_);
  connect(dismiss_, &QToolButton::clicked, this, [this] {
    refusal_.clear();
    update_text();
  });
  hide();
}

void TroubleBanner::show_trouble(const std::vector<RunSession*>& runs) {
  QStringList lines;
  for (const RunSession* run : runs) {
    const std::string& warning = run->view().file_warning();
    if (!warning.empty()) lines.push_back("⚠ " + QString::fromStdString(warning));
    if (run->trouble().ok()) continue;
    lines.push_back("⚠ " + QString::fromStdString(run->trouble().text()) +
                    ". Retrying automatically; data read so far stays visible.");
  }
  trouble_ = lines.join('\n');
  update_text();
}

void TroubleBanner::show_refusal(const Status& status) {
  refusal_ = status.ok() ? QString() : "⚠ " + QString::fromStdString(status.text());
  update_text();
}

QString TroubleBanner::text() const { return isHidden() ? QString() : label_->text(); }

void TroubleBanner::update_text() {
  QStringList parts = {refusal_, trouble_};
  parts.removeAll(QString());
  label_->setText(parts.join('\n'));
  dismiss_->setVisible(!refusal_.isEmpty());
  setVisible(!parts.isEmpty());
}

}  // namespace tributary::dashboard
