#include "dashboard/pages/control/access_form.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "core/net/access/allow_list.h"
#include "core/service/operator_messages.h"
#include "dashboard/pages/common/texts.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kAgentIdCharactersMax = 64;
// Longer than a key, so that a key that is too long is reported and not cut.
constexpr int kKeyTyped = 200;
constexpr const char* kAccessHint =
    "Enter the agent's public key (agent.key.pub, 40 characters). 'tributary keys new' on the "
    "device creates the key pair.";
constexpr const char* kRevokeWarning =
    "Revoke %1? Its data is refused from now on, and it cannot connect until it is allowed "
    "again.";

QLabel* labelled(const QString& text, QWidget* what) {
  auto* const label = new QLabel(text);
  label->setBuddy(what);
  return label;
}

// Uses the checks of the coordinator, so that the form accepts exactly what the coordinator
// accepts.
Result<AllowedAgent> agent_typed(const QLineEdit& id, const QLineEdit& key) {
  AllowedAgent agent = {.id = id.text().trimmed().toStdString(), .key = {}};
  TRIBUTARY_TRY(check_agent_id(agent.id));
  TRIBUTARY_ASSIGN(agent.key, parse_public_key(key.text().trimmed().toStdString()));
  return agent;
}

}  // namespace

AccessForm::AccessForm(QWidget* parent) : QWidget(parent) {
  id_ = new QLineEdit(this);
  id_->setMaxLength(kAgentIdCharactersMax);
  id_->setPlaceholderText("garage-01");
  key_ = new QLineEdit(this);
  key_->setMaxLength(kKeyTyped);
  key_->setPlaceholderText("40 characters");
  allow_ = new QPushButton("&Allow");
  agent_ = new QComboBox(this);
  agent_->setEditable(true);
  agent_->setInsertPolicy(QComboBox::NoInsert);
  agent_->setAccessibleName("Agent to revoke");
  revoke_ = new QPushButton("Revo&ke…");
  verdict_ = new QLabel(kAccessHint);
  verdict_->setTextFormat(Qt::PlainText);
  verdict_->setWordWrap(true);
  verdict_->setAccessibleName("Result of the check");
  auto* const grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->addWidget(labelled("Agent &id", id_), 0, 0);
  grid->addWidget(id_, 0, 1);
  grid->addWidget(labelled("Public ke&y", key_), 0, 2);
  grid->addWidget(key_, 0, 3);
  grid->addWidget(allow_, 0, 4);
  grid->addWidget(verdict_, 1, 0, 1, 5);
  grid->addWidget(labelled("Known a&gent", agent_), 2, 0);
  grid->addWidget(agent_, 2, 1);
  grid->addWidget(revoke_, 2, 4);
  grid->setColumnStretch(1, 1);
  grid->setColumnStretch(3, 2);
  for (QLineEdit* field : {id_, key_}) {
    connect(field, &QLineEdit::textChanged, this, &AccessForm::check);
  }
  connect(agent_, &QComboBox::editTextChanged, this, &AccessForm::check);
  connect(allow_, &QPushButton::clicked, this, &AccessForm::request_allow);
  connect(revoke_, &QPushButton::clicked, this, &AccessForm::request_revoke);
  agent_->setEditText({});
  check();
}

void AccessForm::set_ready(bool ready) {
  ready_ = ready;
  check();
}

// The text that the user is typing is kept.
void AccessForm::set_agents(const QStringList& ids) {
  if (ids == ids_) return;
  ids_ = ids;
  const QString typed = agent_->currentText();
  agent_->clear();
  agent_->addItems(ids);
  agent_->setEditText(typed);
}

QString AccessForm::verdict() const { return verdict_->text(); }

void AccessForm::check() {
  const Result<AllowedAgent> agent = agent_typed(*id_, *key_);
  const bool typed = !id_->text().isEmpty() && !key_->text().isEmpty();
  verdict_->setText(!typed       ? QString(kAccessHint)
                    : agent.ok() ? "✓ valid identifier and public key"
                                 : "⚠ " + plain_text(agent.status().text()));
  allow_->setEnabled(ready_ && agent.ok());
  revoke_->setEnabled(ready_ && check_agent_id(agent_->currentText().trimmed().toStdString()).ok());
}

void AccessForm::request_allow() {
  const Result<AllowedAgent> agent = agent_typed(*id_, *key_);
  if (!agent.ok()) return;
  emit requested({.what = "allow " + shown_text(agent->id), .question = allow_question(*agent)});
}

void AccessForm::request_revoke() {
  const QString id = agent_->currentText().trimmed();
  emit requested({.what = "revoke " + id,
                  .question = revoke_question(id.toStdString()),
                  .warning = QString(kRevokeWarning).arg(id),
                  .verb = "Revoke"});
}

}  // namespace tributary::dashboard
