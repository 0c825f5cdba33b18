#include "core/plan/search/search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "core/plan/search/refine.h"

namespace tributary {
namespace {

// Bounds of the bucket size: a message per bucket and agent must be worth its overhead, and the
// encoding of one bucket must be short compared with the round.
constexpr std::uint64_t kSearchedBucketMin = 1u << 12;
constexpr std::uint64_t kSearchedBucketMax = 1u << 20;

constexpr std::size_t kRefinedAgentsMax = 256;  // with more, the grid has to do
constexpr double kLeastGain = 1e-9;             // logarithms stay finite

// Equidistant ratios on a log scale, because the gain is roughly a function of the logarithm.
std::vector<double> ratio_grid(const PlanPolicy& policy, std::uint32_t count) {
  std::vector<double> ratios;
  const double step = count > 1 ? std::log(policy.ratio_max / policy.ratio_min) / (count - 1) : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    ratios.push_back(policy.ratio_min * std::exp(step * i));
  }
  return ratios;
}

// A factor of 4 between sizes is sufficient: refine() finds the sizes between them.
std::vector<std::uint64_t> bucket_grid(std::uint64_t values) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = kSearchedBucketMin; size <= kSearchedBucketMax; size *= 4) {
    sizes.push_back(std::min(size, values));
    if (size >= values) break;
  }
  return sizes;
}

// Every codec with every collective at every ratio, each with the fastest bucket size of the
// typical world.
class Grid {
 public:
  Grid(const PlanInputs& inputs, const PlanPredictor& predictor, std::uint32_t ratios)
      : inputs_(inputs),
        predictor_(predictor),
        ratios_(ratio_grid(inputs.policy, ratios)),
        sizes_(bucket_grid(inputs.values)) {}

  std::vector<PlanOption> options() const {
    std::vector<PlanOption> all;
    for (const PlanCodec& codec : inputs_.codecs) {
      for (const wire::Collective collective : kPlannedCollectives) {
        if (!predictor_.allowed(codec, collective)) continue;
        if (codec.family == PlanFamily::fixed) {
          all.push_back(quickest(codec, collective, 1));
        } else {
          for (const double ratio : ratios_) all.push_back(quickest(codec, collective, ratio));
        }
      }
    }
    return all;
  }

  // The bucket size with which a choice is the fastest in `world`.
  std::uint64_t fastest_size(const PlanWorld& world, const PlanCodec& codec,
                             wire::Collective collective, double ratio) const {
    return *std::ranges::min_element(sizes_, {}, [&](std::uint64_t size) {
      return predictor_.beyond_training_s(predictor_.prepare(codec, collective, ratio, size),
                                          world);
    });
  }

 private:
  PlanOption quickest(const PlanCodec& codec, wire::Collective collective, double ratio) const {
    return make_option(predictor_, codec, collective, ratio,
                       fastest_size(predictor_.typical(), codec, collective, ratio));
  }

  const PlanInputs& inputs_;
  const PlanPredictor& predictor_;
  const std::vector<double> ratios_;
  const std::vector<std::uint64_t> sizes_;
};

double bytes_of(const PlanOption& option) { return option.cost.bytes_up + option.cost.bytes_down; }

// Removes dominated options. If several options are equal, the first stays. The result is in
// ascending order of time; if it is too large, evenly spaced options stay. With a byte budget,
// bytes are a criterion as well: if computation takes most of the time, a smaller choice is not
// faster, but it is needed.
std::vector<PlanOption> not_dominated(std::vector<PlanOption> options, wire::PlanGoal goal) {
  const bool bytes_count = goal == wire::PlanGoal::byte_budget;
  const auto key = [](const PlanOption& option) {
    const PlanCost& cost = option.cost;
    return std::tuple(cost.exchange_s, cost.compress_s, -cost.gain);
  };
  std::ranges::stable_sort(options, {}, key);
  std::vector<PlanOption> kept;
  for (PlanOption& option : options) {
    // An option that dominates another precedes it in this order.
    const bool beaten = std::ranges::any_of(kept, [&](const PlanOption& other) {
      if (bytes_count && bytes_of(option) < bytes_of(other)) return false;
      return dominates(other.cost, option.cost) || key(other) == key(option);
    });
    if (!beaten) kept.push_back(std::move(option));
  }
  if (kept.size() <= kParetoMax) return kept;
  std::vector<PlanOption> spread;
  for (std::size_t i = 0; i < kParetoMax; ++i) {
    spread.push_back(std::move(kept[i * (kept.size() - 1) / (kParetoMax - 1)]));
  }
  return spread;
}

}  // namespace

bool dominates(const PlanCost& one, const PlanCost& other) {
  const bool as_good = one.compress_s <= other.compress_s && one.exchange_s <= other.exchange_s &&
                       one.gain >= other.gain;
  return as_good && (one.compress_s < other.compress_s || one.exchange_s < other.exchange_s ||
                     one.gain > other.gain);
}

PlanOption make_option(const PlanPredictor& predictor, const PlanCodec& codec,
                       wire::Collective collective, double ratio, std::uint64_t bucket_values) {
  PlanChoice choice = make_choice(codec, collective, ratio, bucket_values);
  const PlanCost cost = predictor.typical_cost(codec, collective, choice.ratio, bucket_values);
  return {.choice = std::move(choice), .cost = cost};
}

std::vector<PlanOption> shortlist(const PlanInputs& inputs, const PlanPredictor& predictor,
                                  const PlanSearchOptions& options) {
  const std::size_t worlds_asked = inputs.agents.size() > kRefinedAgentsMax ? 3 : 8;
  constexpr std::size_t kBestOfEach = 4;
  const Grid grid(inputs, predictor, std::max(options.ratios, 1u));
  const std::vector<PlanOption> all = grid.options();
  std::vector<PreparedExchange> prepared;
  std::vector<double> gains;
  for (const PlanOption& option : all) {
    const PlanChoice& choice = option.choice;
    prepared.push_back(predictor.prepare(*find_codec(inputs, choice), choice.collective,
                                         choice.ratio, choice.bucket_values));
    gains.push_back(inputs.policy.gain_weight * std::log(std::max(option.cost.gain, kLeastGain)));
  }
  std::set<std::pair<std::size_t, std::uint64_t>> listed;  // place in `all`, bucket size
  std::vector<std::size_t> order(all.size());
  std::vector<double> scores(all.size());
  const auto list_best = [&](const PlanWorld& world) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      order[i] = i;
      scores[i] = gains[i] - std::log(predictor.compute_s() +
                                      predictor.beyond_training_s(prepared[i], world) + kLeastGain);
    }
    const std::size_t most = std::min(kBestOfEach, all.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(most),
                              [&](std::size_t a, std::size_t b) {
                                return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
                              });
    for (std::size_t i = 0; i < most; ++i) {
      const PlanChoice& choice = all[order[i]].choice;
      listed.emplace(order[i], grid.fastest_size(world, *find_codec(inputs, choice),
                                                 choice.collective, choice.ratio));
    }
  };
  list_best(predictor.typical());
  const std::vector<PlanWorld>& worlds = predictor.worlds();
  const std::size_t asked = std::min(worlds_asked, worlds.size());
  for (std::size_t i = 0; i < asked; ++i) list_best(worlds[i * worlds.size() / asked]);
  std::vector<PlanOption> found;
  for (const auto& [place, bucket_values] : listed) {
    PlanOption option = all[place];
    option.choice.bucket_values = bucket_values;
    option.cost = predictor.cost(*find_codec(inputs, option.choice), option.choice.collective,
                                 option.choice.ratio, bucket_values);
    found.push_back(std::move(option));
  }
  return found;
}

std::vector<PlanOption> pareto_set(const PlanInputs& inputs, const PlanPredictor& predictor,
                                   const PlanSearchOptions& options) {
  std::vector<PlanOption> found = not_dominated(
      Grid(inputs, predictor, std::max(options.ratios, 1u)).options(), inputs.policy.goal);
  if (options.generations == 0 || inputs.agents.size() > kRefinedAgentsMax) return found;
  std::vector<PlanOption> refined = refine(inputs, predictor, found, options);
  found.insert(found.end(), std::make_move_iterator(refined.begin()),
               std::make_move_iterator(refined.end()));
  return not_dominated(std::move(found), inputs.policy.goal);
}

}  // namespace tributary
