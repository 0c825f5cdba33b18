#include "dashboard/window/connect_dialog.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "dashboard/pages/common/texts.h"
#include "dashboard/session/run_origin.h"

namespace tributary::dashboard {
namespace {

constexpr const char* kConnectionsKey = "connect/recent";
constexpr int kConnectWidth = 640;
constexpr const char* kConnectHint =
    "Create a key file on the coordinator's machine with 'tributary keys join'. It contains your "
    "keys, and the coordinator's endpoint and key. Copy it to this machine, readable only by "
    "you.";

QString connect_choice_text(const ConnectChoice& choice) {
  return choice.endpoint.isEmpty() ? choice.key_file : choice.endpoint + " with " + choice.key_file;
}

}  // namespace

std::vector<ConnectChoice> connections_in(QSettings& settings) {
  std::vector<ConnectChoice> found;
  const int size = settings.beginReadArray(kConnectionsKey);
  for (int i = 0; i < size && found.size() < kConnectionsRemembered; ++i) {
    settings.setArrayIndex(i);
    found.push_back({.endpoint = settings.value("endpoint").toString(),
                     .key_file = settings.value("key_file").toString()});
  }
  settings.endArray();
  // The settings file may have been edited. Without a key file a connection cannot be opened.
  std::erase_if(found, [](const ConnectChoice& choice) { return choice.key_file.isEmpty(); });
  return found;
}

// The list is in the order of use, the newest first, and has no entry twice.
void remember_connection(QSettings& settings, const ConnectChoice& choice) {
  std::vector<ConnectChoice> all = connections_in(settings);
  std::erase(all, choice);
  all.insert(all.begin(), choice);
  if (all.size() > kConnectionsRemembered) all.resize(kConnectionsRemembered);
  settings.beginWriteArray(kConnectionsKey, static_cast<int>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    settings.setArrayIndex(static_cast<int>(i));
    settings.setValue("endpoint", all[i].endpoint);
    settings.setValue("key_file", all[i].key_file);
  }
  settings.endArray();
}

ConnectDialog::ConnectDialog(std::vector<ConnectChoice> recent, QWidget* parent)
    : QDialog(parent), recent_(std::move(recent)) {
  setWindowTitle("Connect to a coordinator");
  recent_box_ = new QComboBox(this);
  for (const ConnectChoice& choice : recent_) recent_box_->addItem(connect_choice_text(choice));
  recent_box_->setCurrentIndex(-1);
  key_file_ = new QLineEdit(this);
  key_file_->setPlaceholderText("anna.join");
  endpoint_ = new QLineEdit(this);
  endpoint_->setPlaceholderText("from the key file, or tcp://HOST:PORT");
  verdict_ = new QLabel(kConnectHint);
  verdict_->setTextFormat(Qt::PlainText);
  verdict_->setWordWrap(true);
  verdict_->setAccessibleName("Result of the check");
  connect_ = new QPushButton("&Connect");
  connect_->setDefault(true);
  lay_out();
  connect(recent_box_, &QComboBox::activated, this, &ConnectDialog::take_recent);
  for (QLineEdit* field : {key_file_, endpoint_}) {
    connect(field, &QLineEdit::textChanged, this, &ConnectDialog::check);
  }
  connect(connect_, &QPushButton::clicked, this, [this] {
    emit chosen(typed());
    close();
  });
  if (!recent_.empty()) {
    recent_box_->setCurrentIndex(0);
    take_recent(0);
  }
  key_file_->setFocus();
  check();
}

// Only one button may react to the return key, so the others lose Qt's automatic default.
void ConnectDialog::lay_out() {
  auto* const choose = new QPushButton("C&hoose…");
  choose->setAutoDefault(false);
  connect(choose, &QPushButton::clicked, this, &ConnectDialog::ask_for_file);
  auto* const file_row = new QHBoxLayout;
  file_row->addWidget(key_file_, 1);
  file_row->addWidget(choose);
  auto* const form = new QFormLayout;
  if (!recent_.empty()) form->addRow("&Recent", recent_box_);
  recent_box_->setVisible(!recent_.empty());
  // The row is a layout, so the label needs its buddy here.
  auto* const file_label = new QLabel("&Key file");
  file_label->setBuddy(key_file_);
  form->addRow(file_label, file_row);
  form->addRow("&Endpoint", endpoint_);
  auto* const cancel = new QPushButton("Cancel");
  cancel->setAutoDefault(false);
  connect(cancel, &QPushButton::clicked, this, &QDialog::close);
  auto* const buttons = new QHBoxLayout;
  buttons->addStretch(1);
  buttons->addWidget(cancel);
  buttons->addWidget(connect_);
  auto* const column = new QVBoxLayout(this);
  column->addLayout(form);
  column->addWidget(verdict_);
  column->addStretch(1);
  column->addLayout(buttons);
  resize(kConnectWidth, sizeHint().height());
}

void ConnectDialog::take_recent(int index) {
  const auto at = static_cast<std::size_t>(index);
  if (index < 0 || at >= recent_.size()) return;
  key_file_->setText(recent_[at].key_file);
  endpoint_->setText(recent_[at].endpoint);
}

void ConnectDialog::ask_for_file() {
  const QString file = QFileDialog::getOpenFileName(this, "Open a key file", {},
                                                    "Join files (*.join);;All files (*)");
  if (!file.isEmpty()) key_file_->setText(file);
}

ConnectChoice ConnectDialog::typed() const {
  return {.endpoint = endpoint_->text().trimmed(), .key_file = key_file_->text().trimmed()};
}

// Runs at every keystroke. It reads the key file but opens no connection.
void ConnectDialog::check() {
  const ConnectChoice choice = typed();
  if (choice.key_file.isEmpty()) {
    verdict_->setText(kConnectHint);
    connect_->setEnabled(false);
    return;
  }
  const Result<RunOrigin> origin =
      origin_of_join_file(choice.key_file.toStdString(), choice.endpoint.toStdString());
  verdict_->setText(origin.ok() ? "✓ " + origin->place : "⚠ " + plain_text(origin.status().text()));
  connect_->setEnabled(origin.ok());
}

QString ConnectDialog::verdict() const { return verdict_->text(); }

}  // namespace tributary::dashboard
