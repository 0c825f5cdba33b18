#include "dashboard/pages/control/submit_form.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "core/service/operator_messages.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kCheckAfterMs = 150;  // without typing, so that half a file name is not checked
constexpr const char* kNoJobFile =
    "A job is a TOML file, which is checked before it is sent. docs/jobs.md has examples.";

}  // namespace

SubmitForm::SubmitForm(QWidget* parent) : QWidget(parent) {
  file_ = new QLineEdit(this);
  file_->setPlaceholderText("digits.toml");
  auto* const label = new QLabel("Job &file");
  label->setBuddy(file_);
  choose_ = new QPushButton("&Choose…");
  submit_ = new QPushButton("&Submit");
  verdict_ = new QLabel(kNoJobFile);
  verdict_->setTextFormat(Qt::PlainText);
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->setAccessibleName("Result of the check");
  auto* const row = new QHBoxLayout;
  row->addWidget(label);
  row->addWidget(file_, 1);
  row->addWidget(choose_);
  row->addWidget(submit_);
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->addLayout(row);
  column->addWidget(verdict_);
  check_timer_.setSingleShot(true);
  check_timer_.setInterval(kCheckAfterMs);
  connect(&check_timer_, &QTimer::timeout, this, &SubmitForm::check);
  connect(file_, &QLineEdit::textChanged, &check_timer_, qOverload<>(&QTimer::start));
  connect(file_, &QLineEdit::returnPressed, this, &SubmitForm::check);
  connect(choose_, &QPushButton::clicked, this, &SubmitForm::ask_for_file);
  connect(submit_, &QPushButton::clicked, this, &SubmitForm::request_submit);
  update_button();
}

void SubmitForm::set_ready(bool ready) {
  ready_ = ready;
  update_button();
}

// A path in a job is read by the coordinator, so across a network it must be absolute.
void SubmitForm::set_across_network(bool across_network) {
  if (across_network == across_network_) return;
  across_network_ = across_network;
  check();
}

QString SubmitForm::verdict() const { return verdict_->text(); }

void SubmitForm::ask_for_file() {
  const QString file =
      QFileDialog::getOpenFileName(this, "Open a job file", {}, "Jobs (*.toml);;All files (*)");
  if (!file.isEmpty()) file_->setText(file);
}

// Reads and checks the file as the coordinator does, but sends nothing.
void SubmitForm::check() {
  check_timer_.stop();
  checked_.reset();
  const std::string path = file_->text().trimmed().toStdString();
  if (path.empty()) {
    verdict_->setText(kNoJobFile);
  } else if (Result<JobFile> read = read_job_file(path, across_network_); read.ok()) {
    verdict_->setText("✓ " + read->summary);
    checked_ = std::move(*read);
  } else {
    verdict_->setText("⚠ " + plain_text(read.status().text()));
  }
  update_button();
}

// The file is read again, because it may have changed since the last check.
void SubmitForm::request_submit() {
  check();
  if (!checked_) return;
  emit requested({.what = "submit " + shown_text(checked_->name),
                  .question = submit_question(checked_->text, checked_->folder)});
}

void SubmitForm::update_button() { submit_->setEnabled(ready_ && checked_.has_value()); }

}  // namespace tributary::dashboard
