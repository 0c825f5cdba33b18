#include "dashboard/pages/round/round_side.h"

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <utility>

namespace tributary::dashboard {

RoundSide::RoundSide(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  reason_ = new QLabel(this);
  reason_->setTextFormat(Qt::PlainText);
  reason_->setWordWrap(true);
  reason_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  facts_area_ = new QScrollArea(this);
  facts_area_->setFrameShape(QFrame::NoFrame);
  facts_area_->setWidgetResizable(true);
  layout->addWidget(reason_);
  layer_bits_ = new LayerBitsView(this);
  layout->addWidget(layer_bits_);
  layout->addWidget(facts_area_, 1);
}

// The labels are made anew: rounds have different numbers of facts, and a page shows few of them
// per second.
void RoundSide::show_facts(const QString& reason, const std::vector<Fact>& facts,
                           std::vector<LayerBits> layers) {
  layer_bits_->show_bits(std::move(layers));
  auto* shown = new QWidget;
  auto* grid = new QGridLayout(shown);
  grid->setContentsMargins(0, 0, 0, 0);
  // Names of mechanisms are long. Both columns wrap, so that a narrow page cuts off no value.
  grid->setColumnStretch(0, 1);
  grid->setColumnStretch(1, 1);
  int line = 0;
  for (const Fact& fact : facts) {
    auto* name = new QLabel(shown);
    name->setTextFormat(Qt::PlainText);
    name->setWordWrap(true);
    name->setText(fact.name);
    auto* value = new QLabel(shown);
    value->setTextFormat(Qt::PlainText);
    value->setWordWrap(true);
    value->setText(fact.value);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid->addWidget(name, line, 0, Qt::AlignTop);
    grid->addWidget(value, line, 1, Qt::AlignTop);
    ++line;
  }
  grid->setRowStretch(line, 1);
  delete facts_area_->takeWidget();
  facts_area_->setWidget(shown);
  reason_->setText(reason.isEmpty() ? QString() : "Reason: " + reason);
}

void RoundSide::clear() {
  reason_->clear();
  layer_bits_->show_bits({});
  delete facts_area_->takeWidget();
}

}  // namespace tributary::dashboard
