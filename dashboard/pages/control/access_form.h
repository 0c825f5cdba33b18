// The form that edits the allow-list: it allows an agent by identifier and public key, or revokes
// it.
//
// The form checks its input and emits requests; it sends nothing itself. GUI thread only.
#pragma once

#include <QStringList>
#include <QWidget>

#include "dashboard/pages/control/control_request.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace tributary::dashboard {

class AccessForm : public QWidget {
  Q_OBJECT

 public:
  explicit AccessForm(QWidget* parent = nullptr);

  // Enables the buttons while a coordinator accepts requests.
  void set_ready(bool ready);
  // Sets the identifiers offered for revocation.
  void set_agents(const QStringList& ids);

  QLineEdit& id() { return *id_; }
  QLineEdit& key() { return *key_; }
  QPushButton& allow() { return *allow_; }
  QComboBox& agent() { return *agent_; }
  QPushButton& revoke() { return *revoke_; }
  QString verdict() const;  // the result of checking the input

 signals:
  // The user wants to allow or revoke an agent; the input is valid.
  void requested(const tributary::dashboard::ControlRequest& request);

 private:
  void request_allow();
  void request_revoke();
  // Checks the input and updates the result and the buttons.
  void check();

  QLineEdit* id_;
  QLineEdit* key_;
  QPushButton* allow_;
  QComboBox* agent_;
  QPushButton* revoke_;
  QLabel* verdict_;
  QStringList ids_;
  bool ready_ = false;
};

}  // namespace tributary::dashboard
