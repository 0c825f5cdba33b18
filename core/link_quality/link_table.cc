#include "core/link_quality/link_table.h"

#include <algorithm>

namespace tributary {

void LinkTable::add(std::string_view member, const LinkTransfer& transfer) {
  auto link = links_.find(member);
  if (link == links_.end()) {
    if (members_max_ == 0) return;
    if (links_.size() >= members_max_) {
      links_.erase(std::ranges::min_element(
          links_, {}, [](const auto& each) { return each.second.last_reading; }));
    }
    link = links_.emplace(member, Link{}).first;
  }
  link->second.estimator.add(transfer);
  link->second.last_reading = ++added_;
}

void LinkTable::forget(std::string_view member) {
  const auto link = links_.find(member);
  if (link != links_.end()) links_.erase(link);
}

const LinkEstimator* LinkTable::find(std::string_view member) const {
  const auto link = links_.find(member);
  return link == links_.end() ? nullptr : &link->second.estimator;
}

MeasuredLink LinkTable::measured(std::string_view member, double now_s) const {
  const LinkEstimator* const estimator = find(member);
  return estimator == nullptr ? MeasuredLink{} : estimator->measured(now_s);
}

std::optional<LinkEstimate> LinkTable::slowest(double now_s, double confidence_min) const {
  std::optional<double> alpha_s;
  std::optional<double> beta_s_per_byte;
  // The maximum of a quantity over the members that know it well enough.
  const auto take = [&](std::optional<double>& most, const LinkQuantity& quantity) {
    if (!quantity.known() || quantity.confidence < confidence_min) return;
    most = std::max(most.value_or(0), quantity.value);
  };
  for (const auto& [member, link] : links_) {
    const MeasuredLink measured = link.estimator.measured(now_s);
    take(alpha_s, measured.alpha_s);
    take(beta_s_per_byte, measured.beta_s_per_byte);
  }
  if (!alpha_s || !beta_s_per_byte) return std::nullopt;
  return LinkEstimate{.alpha_s = *alpha_s, .beta_s_per_byte = *beta_s_per_byte};
}

}  // namespace tributary
