#include "coordinator/links/pair_figures.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// Bounds of plausible values. No terrestrial or satellite link has a greater latency, and no link
// that carries a model a lower rate.
constexpr double kAlphaMax_s = 600;
constexpr double kBetaMax_s_per_byte = 1;

// Confidence halves with the estimator's half-life, as in LinkEstimator without new readings.
LinkQuantity aged(LinkQuantity quantity, double by_s) {
  if (!quantity.known()) return quantity;
  quantity.age_s += by_s;
  quantity.confidence *= std::exp2(-by_s / LinkEstimator::kHalfLife_s);
  return quantity;
}

bool can_be(double value, double most) {
  return std::isfinite(value) && value >= 0 && value < most;
}

}  // namespace

LinkQuantity PairFigures::Quantity::at(double now_s) const {
  return aged(reported, std::max(now_s - reported_at_s, 0.0));
}

MeasuredLink PairFigures::measured(const Pair& pair, double now_s) {
  return {.alpha_s = pair.alpha_s.at(now_s), .beta_s_per_byte = pair.beta_s_per_byte.at(now_s)};
}

PairFigures::Pair& PairFigures::pair(const std::string& from, const std::string& to) {
  const auto found = pairs_.find({from, to});
  if (found != pairs_.end()) return found->second;
  if (pairs_.size() >= pairs_max_ && !pairs_.empty()) {
    pairs_.erase(std::ranges::min_element(
        pairs_, {}, [](const auto& each) { return each.second.last_reading; }));
  }
  return pairs_[{from, to}];
}

std::vector<PairFigure> PairFigures::take(double now_s, const LinksReported& reported) {
  std::vector<PairFigure> fresh;
  for (const wire::LinkSampleT& link : reported.links) {
    const bool alpha = link.alpha_s != 0;
    const bool beta = link.beta_s_per_byte != 0;
    if (alpha == beta || !can_be(link.alpha_s, kAlphaMax_s) ||
        !can_be(link.beta_s_per_byte, kBetaMax_s_per_byte) ||
        !(link.confidence >= 0 && link.confidence <= 1)) {
      ++ignored_;
      continue;
    }
    Pair& of = pair(link.from, reported.agent_id);
    of.last_reading = ++readings_;
    Quantity& quantity = alpha ? of.alpha_s : of.beta_s_per_byte;
    quantity = {.reported = {.value = alpha ? link.alpha_s : link.beta_s_per_byte,
                             .confidence = link.confidence,
                             .age_s = link.age_ms / 1e3},
                .reported_at_s = now_s};
    PairFigure& figure = fresh.emplace_back();
    figure.from = link.from;
    figure.to = reported.agent_id;
    (alpha ? figure.measured.alpha_s : figure.measured.beta_s_per_byte) = quantity.reported;
  }
  return fresh;
}

std::vector<PairFigure> PairFigures::slowest(double now_s, std::size_t count_max) const {
  std::vector<PairFigure> all;
  for (const auto& [names, pair] : pairs_) {
    all.push_back({.from = names.first, .to = names.second, .measured = measured(pair, now_s)});
  }
  const auto rate = [](const PairFigure& pair) {
    const LinkQuantity& beta = pair.measured.beta_s_per_byte;
    return beta.known() ? -beta.value : 1.0;
  };
  std::ranges::stable_sort(all, {}, rate);
  if (all.size() > count_max) all.resize(count_max);
  return all;
}

MeasuredLink PairFigures::measured(const std::string& from, const std::string& to,
                                   double now_s) const {
  const auto found = pairs_.find({from, to});
  return found == pairs_.end() ? MeasuredLink{} : measured(found->second, now_s);
}

}  // namespace tributary
