#include "core/round/residual_account.h"

#include <algorithm>
#include <utility>

namespace tributary {

ResidualAccount::ResidualAccount(const ReplicaRecord& record, std::vector<UndecidedRound> undecided)
    : values_(std::make_shared<FloatVector>(*record.residual)),
      stamp_(record.residual_stamp),
      undecided_(std::move(undecided)) {}

FloatVector& ResidualAccount::own() {
  if (values_.use_count() > 1) values_ = std::make_shared<FloatVector>(*values_);
  return *values_;
}

void ResidualAccount::add(std::uint64_t first, std::span<const float> update, float weight) {
  const auto add_to = [&](std::span<float> residual, std::span<const float> more) {
    for (std::size_t i = 0; i < more.size(); ++i) residual[i] += weight * more[i];
  };
  add_to(std::span(own()).subspan(first, update.size()), update);
  for (UndecidedRound& round : undecided_) {
    for (ContributionPart& part : round.parts) {
      const std::uint64_t from = std::max(part.first_value, first);
      const std::uint64_t to =
          std::min(part.first_value + part.if_committed->size(), first + update.size());
      if (from >= to) continue;
      auto changed = std::make_shared<FloatVector>(*part.if_committed);
      add_to(std::span(*changed).subspan(from - part.first_value),
             update.subspan(from - first, to - from));
      part.if_committed = std::move(changed);
    }
  }
}

void rescale_residual(double from_rate, double to_rate, std::span<float> residual) {
  if (from_rate == 0 || to_rate == 0 || from_rate == to_rate) return;
  const auto factor = static_cast<float>(from_rate / to_rate);
  for (float& value : residual) value *= factor;
}

void ResidualAccount::rescale_to(double learning_rate, bool gradient) {
  const double old = std::exchange(stamp_.learning_rate, learning_rate);
  if (gradient && old != learning_rate) rescale_residual(old, learning_rate, own());
}

void ResidualAccount::open(const RoundKey& id, std::uint32_t agent_index, ContributionPart part) {
  auto found = std::ranges::find(undecided_, id, &UndecidedRound::id);
  if (found == undecided_.end()) {
    undecided_.push_back({.id = id, .agent_index = agent_index, .parts = {}});
    found = std::prev(undecided_.end());
  }
  found->parts.push_back(std::move(part));
}

const UndecidedRound* ResidualAccount::find(const RoundKey& id) const {
  const auto found = std::ranges::find(undecided_, id, &UndecidedRound::id);
  return found == undecided_.end() ? nullptr : &*found;
}

void ResidualAccount::settle(const RoundKey& id, const Bitmap& contributed) {
  if (const UndecidedRound* round = find(id)) {
    for (const ContributionPart& part : round->parts) {
      if (!contributed.test(part.bucket)) continue;
      std::ranges::copy(*part.if_committed,
                        own().begin() + static_cast<std::ptrdiff_t>(part.first_value));
    }
  }
  std::erase_if(undecided_, [&](const UndecidedRound& r) { return r.id.round <= id.round; });
}

void ResidualAccount::settle_excluded(const RoundKey& id) {
  std::erase_if(undecided_, [&](const UndecidedRound& round) { return round.id == id; });
}

}  // namespace tributary
