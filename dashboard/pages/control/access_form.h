// Who may come in: an agent is allowed by its id and its public key, and its leave is taken back.
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

  void set_ready(bool ready);
  // Who is known, to be chosen from.
  void set_agents(const QStringList& ids);

  QLineEdit& id() { return *id_; }
  QLineEdit& key() { return *key_; }
  QPushButton& allow() { return *allow_; }
  QComboBox& agent() { return *agent_; }
  QPushButton& revoke() { return *revoke_; }
  QString verdict() const;  // on what was typed

 signals:
  void requested(const tributary::dashboard::ControlRequest& request);

 private:
  void want_allow();
  void want_revoke();
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
