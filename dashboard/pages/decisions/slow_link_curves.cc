#include "dashboard/pages/decisions/slow_link_curves.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "dashboard/pages/common/texts.h"

namespace tributary::dashboard {
namespace {

// Returns "agent-1 ↑" for an uplink and "agent-1 ↓" for a downlink.
QString link_name(const std::string& from, const std::string& to) {
  return from.empty() ? plain_text(to) + " ↓" : plain_text(from) + " ↑";
}

}  // namespace

bool SlowLinkCurves::update(const RunView& view, std::uint64_t job) {
  const std::uint64_t revision = view.revisions().links;
  bool others = false;
  if (revision >= choose_again_at_ || revision < revision_seen_) {
    std::vector<DirectedLink> alpha;
    std::vector<DirectedLink> rate;
    for (const auto& [from, to] : view.links()) {
      if (from.empty() == to.empty()) continue;
      const LinkCurves* const link = view.link(from, to);
      const QString name = link_name(from, to);
      const QString agent = plain_text(from.empty() ? to : from);
      if (std::isfinite(link->alpha_last_s)) {
        alpha.push_back(
            {.name = name, .agent = agent, .source = link->alpha_s, .last = link->alpha_last_s});
      }
      if (link->beta_last_s_per_byte > 0 && std::isfinite(link->beta_last_s_per_byte)) {
        rate.push_back({.name = name,
                        .agent = agent,
                        .up = to.empty(),
                        .source = link->beta_s_per_byte,
                        .last = link->beta_last_s_per_byte});
      }
    }
    // Uplinks decide the time of most rounds. If any uplink is known, only uplinks are shown.
    const auto up = [](const DirectedLink& link) { return link.up; };
    if (std::ranges::any_of(rate, up)) std::erase_if(rate, std::not_fn(up));
    // Choosing the slowest links costs time linear in their number. It may be late by a quarter of
    // that number of measurements.
    choose_again_at_ = revision + 1 + (alpha.size() + rate.size()) / 4;
    others = choose(alpha_, std::move(alpha));
    others = choose(rate_, std::move(rate)) || others;
  }
  revision_seen_ = revision;
  const RoundTable* const rounds = view.rounds(job);
  const std::optional<double> tail_s = end_of_tail(view, job);
  for (Quantity* quantity : {&alpha_, &rate_}) {
    for (DirectedLink& link : quantity->links) feed(link, quantity->inverse, rounds, tail_s);
  }
  return others;
}

void SlowLinkCurves::clear() {
  alpha_ = {};
  rate_ = {.inverse = true};
  revision_seen_ = choose_again_at_ = 0;
}

bool SlowLinkCurves::choose(Quantity& quantity, std::vector<DirectedLink> found) {
  std::ranges::stable_sort(found, std::greater<>(), &DirectedLink::last);
  if (found.size() > kLinksMax) found.resize(kLinksMax);
  std::ranges::sort(found, {}, &DirectedLink::name);
  const bool same =
      std::ranges::equal(found, quantity.links, {}, &DirectedLink::source, &DirectedLink::source);
  if (same) return false;
  for (DirectedLink& link : found) {
    const auto before = std::ranges::find(quantity.links, link.source, &DirectedLink::source);
    // A link that stays in the selection keeps its processed samples.
    if (before != quantity.links.end()) link = std::move(*before);
  }
  quantity.links = std::move(found);
  return true;
}

// A measurement may contain only one of the two quantities. The missing one is not a gap in its
// curve: another measurement supplies it.
void SlowLinkCurves::feed(DirectedLink& link, bool inverse, const RoundTable* rounds,
                          std::optional<double> tail_s) {
  const auto value_of = [&](double y) { return inverse ? bits_per_second(y) : y; };
  link.over_time.follow(link.source, [&](Sample sample) -> std::optional<Sample> {
    return Sample{std::isnan(sample.y) ? kUnknown : sample.x, value_of(sample.y)};
  });
  if (!rounds) return;
  link.over_rounds.follow(link.source, [&](Sample sample) -> std::optional<Sample> {
    const std::optional<double> place = round_at(*rounds, sample.x, tail_s);
    if (!place) return std::nullopt;  // the round is still running
    return Sample{std::isnan(sample.y) ? kUnknown : *place, value_of(sample.y)};
  });
}

std::vector<PlotCurve> SlowLinkCurves::curves(const Quantity& quantity, bool over_time) {
  std::vector<PlotCurve> out;
  std::set<QString> agents;
  for (const DirectedLink& link : quantity.links) {
    // An agent has the same colour on all pages. If both of its links are shown, the second one is
    // paler.
    const bool is_first = agents.insert(link.agent).second;
    out.push_back({.key = link.name,
                   .name = link.name,
                   .colour_key = link.agent,
                   .pale = !is_first,
                   .series = (over_time ? link.over_time : link.over_rounds).series()});
  }
  return out;
}

}  // namespace tributary::dashboard
