#include "dashboard/pages/round/round_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <limits>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

// The range of the spin box; a later round is shown as this number.
constexpr int kRoundNumberMax = std::numeric_limits<int>::max();

}  // namespace

RoundBar::RoundBar(QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 0);
  auto* label = new QLabel("&Round", this);
  number_ = new QSpinBox(this);
  number_->setRange(0, kRoundNumberMax);
  // A number counts when it is complete, not after each digit.
  number_->setKeyboardTracking(false);
  number_->setAccessibleName("Round");
  label->setBuddy(number_);
  range_ = new QLabel(this);
  previous_ = new QPushButton("◀ Previous", this);
  previous_->setToolTip("Alt+Left");
  next_ = new QPushButton("Next ▶", this);
  next_->setToolTip("Alt+Right");
  newest_ = new QPushButton(this);
  newest_->setObjectName("newest");
  newest_->setToolTip("Alt+End: follow the newest round");
  for (QWidget* widget :
       std::initializer_list<QWidget*>{label, number_, range_, previous_, next_}) {
    layout->addWidget(widget);
  }
  layout->addStretch(1);
  layout->addWidget(newest_);
  connect(number_, &QSpinBox::valueChanged, this,
          [this](int round) { emit round_chosen(static_cast<std::uint64_t>(round)); });
  connect(previous_, &QPushButton::clicked, this, [this] { emit step_requested(-1); });
  connect(next_, &QPushButton::clicked, this, [this] { emit step_requested(1); });
  connect(newest_, &QPushButton::clicked, this, [this] { emit newest_requested(); });
}

void RoundBar::show_place(const std::optional<Place>& place, bool follows_newest) {
  number_->setEnabled(place.has_value());
  previous_->setEnabled(place && place->round > place->first);
  next_->setEnabled(place && place->round < place->last);
  newest_->setText(follows_newest ? "● Newest" : "❚❚ Back to newest");
  newest_->setEnabled(place && !follows_newest);
  if (!place) {
    range_->clear();
    return;
  }
  range_->setText(QString("of %1 to %2").arg(grouped(place->first), grouped(place->last)));
  // Showing a place is not a choice of the user.
  const QSignalBlocker quiet(number_);
  // A new round must not overwrite a number that the user is typing.
  if (!number_->hasFocus() || !follows_newest) {
    number_->setValue(static_cast<int>(std::min<std::uint64_t>(place->round, kRoundNumberMax)));
  }
}

}  // namespace tributary::dashboard
