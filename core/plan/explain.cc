#include "core/plan/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

namespace tributary {
namespace {

using Value = std::function<double(const PlanWorld&)>;

BeliefBand band_over(const std::vector<PlanWorld>& worlds, const Value& value) {
  std::vector<double> values;
  for (const PlanWorld& world : worlds) values.push_back(value(world));
  return band_of(std::move(values));
}

double bits_of(double s_per_byte) {
  return s_per_byte > 0 ? 8 / s_per_byte : std::numeric_limits<double>::infinity();
}

std::vector<BelievedLink> links_of(const PlanInputs& inputs, const PlanPredictor& predictor) {
  const std::vector<PlanWorld>& worlds = inputs.worlds;
  std::vector<BelievedLink> links;
  for (const LinkKind kind : {LinkKind::uplink, LinkKind::downlink}) {
    for (std::size_t i = 0; i < inputs.agents.size(); ++i) {
      const std::string& name = inputs.agents[i].name;
      links.push_back(
          {.kind = kind,
           .agent = name.empty() ? fmt::format("agent {}", i) : name,
           .bits_per_s = band_over(worlds,
                                   [&](const PlanWorld& world) {
                                     const AgentLink& rate = world.links[i].rate;
                                     return bits_of(kind == LinkKind::uplink ? rate.up : rate.down);
                                   }),
           .alpha_s =
               band_over(worlds, [&](const PlanWorld& world) { return world.links[i].alpha_s; })});
    }
  }
  if (predictor.possible(wire::Collective::ring)) {
    links.push_back(
        {.kind = LinkKind::peers,
         .bits_per_s = band_over(
             worlds, [](const PlanWorld& world) { return bits_of(world.peers.beta_s_per_byte); }),
         .alpha_s = band_over(worlds, [](const PlanWorld& world) { return world.peers.alpha_s; })});
  }
  links.push_back(
      {.kind = LinkKind::coordinator, .bits_per_s = band_over(worlds, [](const PlanWorld& world) {
                                        return bits_of(world.hub_s_per_byte);
                                      })});
  return links;
}

// The factors of pairs that were used differ from that of their collective, which the middle one of
// all codecs shows.
double factor_of(const PlanWorld& world, std::size_t codecs, wire::Collective collective) {
  std::vector<double> factors;
  for (std::size_t codec = 0; codec < codecs; ++codec) {
    factors.push_back(world.times[times_place(codec, collective)]);
  }
  return band_of(std::move(factors)).median;
}

void explain_factors(const PlanInputs& inputs, const PlanPredictor& predictor,
                     PlanExplanation& explanation) {
  const std::vector<PlanWorld>& worlds = inputs.worlds;
  for (std::size_t i = 0; i < inputs.codecs.size(); ++i) {
    const std::string& spec = inputs.codecs[i].spec;
    explanation.codec_times.push_back(
        {.name = spec,
         .factor = band_over(worlds, [&](const PlanWorld& world) { return world.cpu[i]; })});
    explanation.codec_sizes.push_back(
        {.name = spec,
         .factor = band_over(worlds, [&](const PlanWorld& world) { return world.size[i]; })});
  }
  for (const wire::Collective collective : kCollectives) {
    if (!predictor.possible(collective)) continue;
    explanation.collectives.push_back({.name = wire::EnumNameCollective(collective),
                                       .factor = band_over(worlds, [&](const PlanWorld& world) {
                                         return factor_of(world, inputs.codecs.size(), collective);
                                       })});
  }
  if (predictor.possible(wire::Collective::in_network)) {
    explanation.collectives.push_back(
        {.name = wire::EnumNameCollective(wire::Collective::in_network),
         .factor = band_over(worlds, [](const PlanWorld& world) { return world.in_network; })});
  }
}

BelievedChoice believed(const PlanInputs& inputs, const PlanPredictor& predictor,
                        WeighedOption weighed) {
  const PlanChoice& choice = weighed.option.choice;
  const PreparedExchange prepared = predictor.prepare(
      *find_codec(inputs, choice), choice.collective, choice.ratio, choice.bucket_values);
  const BeliefBand round_s = band_over(inputs.worlds, [&](const PlanWorld& world) {
    return predictor.compute_s() + predictor.beyond_training_s(prepared, world);
  });
  const bool in_force = inputs.before && inputs.before->choice == choice;
  return {.option = std::move(weighed.option),
          .round_s = round_s,
          .value = weighed.value,
          .in_force = in_force};
}

std::uint64_t buckets_of(const PlanInputs& inputs, const PlanChoice& choice) {
  const std::uint64_t each = std::max<std::uint64_t>(choice.bucket_values, 1);
  return inputs.values / each + (inputs.values % each > 0 ? 1 : 0);
}

// The candidate that a choice names, by the number of its buckets if two differ in them alone.
std::vector<BelievedChoice>::iterator find_candidate(const PlanInputs& inputs,
                                                     std::vector<BelievedChoice>& candidates,
                                                     const PlanChoice& choice) {
  const auto same = [&](const BelievedChoice& candidate) {
    const PlanChoice& other = candidate.option.choice;
    return other.codec == choice.codec && other.collective == choice.collective;
  };
  const std::uint64_t buckets = buckets_of(inputs, choice);
  const auto exact = std::ranges::find_if(candidates, [&](const BelievedChoice& candidate) {
    return same(candidate) && buckets_of(inputs, candidate.option.choice) == buckets;
  });
  return exact != candidates.end() ? exact : std::ranges::find_if(candidates, same);
}

// The cost of a choice by these inputs; empty if it is not possible.
std::optional<PlanOption> option_of(const PlanInputs& inputs, const PlanPredictor& predictor,
                                    const PlanChoice& choice) {
  const PlanCodec* const codec = find_codec(inputs, choice);
  if (!codec || !predictor.possible(*codec, choice.collective)) return {};
  return PlanOption{
      .choice = choice,
      .cost = predictor.cost(*codec, choice.collective, choice.ratio, choice.bucket_values)};
}

Status not_among_choices(const PlanChoice& choice) {
  return Status(StatusCode::mismatch,
                {.what = "the decision's stored inputs",
                 .expected = fmt::format("{} by {} among their choices", choice.codec,
                                         wire::EnumNameCollective(choice.collective)),
                 .got = "inputs for other choices"});
}

// The chosen one first, then the most valuable. Options without a value keep their order.
void sort_candidates(std::vector<BelievedChoice>& candidates) {
  std::ranges::stable_sort(candidates, [](const BelievedChoice& one, const BelievedChoice& other) {
    if (one.chosen != other.chosen) return one.chosen;
    return one.value && other.value && *one.value > *other.value;
  });
}

// A goal for which time saved is progress.
bool saves_time(const PlanInputs& inputs) {
  return inputs.policy.goal != wire::PlanGoal::time_budget;
}

}  // namespace

bool BelievedLink::unlimited() const { return std::isinf(bits_per_s.median); }

const char* name_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::uplink:
      return "uplink";
    case LinkKind::downlink:
      return "downlink";
    case LinkKind::peers:
      return "peers";
    case LinkKind::coordinator:
      return "coordinator";
  }
  return "";
}

const char* name_of(LinkRank rank) {
  switch (rank) {
    case LinkRank::single:
      return "single";
    case LinkRank::slowest:
      return "slowest";
    case LinkRank::middle:
      return "median";
    case LinkRank::fastest:
      return "fastest";
  }
  return "";
}

std::string text_of(const BelievedLink& link) {
  if (link.kind == LinkKind::peers) return "agents' own network";
  if (link.kind == LinkKind::coordinator) return "coordinator's link";
  if (link.rank == LinkRank::single) return fmt::format("{} {}", link.agent, name_of(link.kind));
  return fmt::format("{} {} ({})", name_of(link.rank), name_of(link.kind), link.agent);
}

Result<PlanExplanation> explain(const PlanInputs& inputs, const PlanChoice& chosen) {
  TRIBUTARY_TRY(check(inputs));
  if (inputs.worlds.empty()) {
    return Status(StatusCode::unsupported,
                  {.what = "the decision's stored inputs",
                   .expected = "worlds of the planner's belief",
                   .got = "none: an earlier release made this decision",
                   .remedy = "use tributary plan replay, which needs no belief"});
  }
  const PlanPredictor predictor(inputs);
  PlanExplanation explanation = {.worlds = inputs.worlds.size(),
                                 .allowed_codecs = inputs.policy.codecs,
                                 .allowed_collectives = inputs.policy.collectives,
                                 .links = links_of(inputs, predictor),
                                 .overhead_s = band_over(inputs.worlds, [](const PlanWorld& world) {
                                   return world.overhead_s;
                                 })};
  explain_factors(inputs, predictor, explanation);
  std::vector<BelievedChoice>& candidates = explanation.candidates;
  for (WeighedOption& weighed : weighed_options(inputs, predictor)) {
    candidates.push_back(believed(inputs, predictor, std::move(weighed)));
  }
  const auto found = find_candidate(inputs, candidates, chosen);
  if (found != candidates.end()) {
    found->chosen = true;
  } else {
    std::optional<PlanOption> option = option_of(inputs, predictor, chosen);
    if (!option) return not_among_choices(chosen);
    candidates.push_back(
        believed(inputs, predictor, {.option = *std::move(option), .value = std::nullopt}));
    candidates.back().chosen = true;
  }
  sort_candidates(candidates);
  return explanation;
}

std::vector<BelievedLink> grouped_links(std::vector<BelievedLink> links, std::size_t links_max) {
  std::vector<BelievedLink> out;
  for (const LinkKind kind :
       {LinkKind::uplink, LinkKind::downlink, LinkKind::peers, LinkKind::coordinator}) {
    std::vector<BelievedLink> of_kind;
    std::ranges::copy_if(links, std::back_inserter(of_kind),
                         [&](const BelievedLink& link) { return link.kind == kind; });
    if (of_kind.size() <= std::max<std::size_t>(links_max, 3)) {
      out.insert(out.end(), of_kind.begin(), of_kind.end());
      continue;
    }
    std::ranges::stable_sort(of_kind, {},
                             [](const BelievedLink& link) { return link.bits_per_s.median; });
    of_kind.front().rank = LinkRank::slowest;
    of_kind[of_kind.size() / 2].rank = LinkRank::middle;
    of_kind.back().rank = LinkRank::fastest;
    for (const std::size_t place : {std::size_t{0}, of_kind.size() / 2, of_kind.size() - 1}) {
      out.push_back(of_kind[place]);
    }
  }
  return out;
}

Result<std::optional<PlanHindsight>> hindsight(const PlanInputs& later, const PlanChoice& used,
                                               std::span<const BelievedChoice> candidates) {
  TRIBUTARY_TRY(check(later));
  using Judged = std::optional<PlanHindsight>;
  if (later.worlds.empty() || !saves_time(later)) return Judged();
  const PlanPredictor predictor(later);
  const std::optional<PlanOption> option = option_of(later, predictor, used);
  if (!option) return Judged();
  PlanHindsight judged = {.used = *option, .best = *option};
  const auto compare = [&](const PlanOption& other) {
    if (preferred(later.policy, other, judged.best)) judged.best = other;
  };
  if (candidates.empty()) {
    for (const WeighedOption& weighed : weighed_options(later, predictor)) compare(weighed.option);
  }
  for (const BelievedChoice& candidate : candidates) compare(candidate.option);
  // The progress of a round is gain^gain_weight, so the best choice needs this many of its rounds.
  const double rounds =
      std::pow(judged.used.cost.gain / judged.best.cost.gain, later.policy.gain_weight);
  const double saved_s = judged.used.cost.round_s - rounds * judged.best.cost.round_s;
  judged.regret_s = saved_s > 0 ? saved_s : 0;
  return Judged(judged);
}

}  // namespace tributary
