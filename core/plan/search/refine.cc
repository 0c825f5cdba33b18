#include "core/plan/search/refine.h"

#include <algorithm>
#include <cmath>
#include <pagmo/algorithms/nsga2.hpp>
#include <pagmo/population.hpp>
#include <pagmo/problem.hpp>

namespace tributary {
namespace {

constexpr double kRefinedBucketMin = 1u << 12;
constexpr double kRefinedBucketMax = 1u << 20;
constexpr double kLeastGap = 1e-6;  // least distance of two bounds that would otherwise be equal
constexpr double kRefinedGainFloor = 1e-9;  // 1 / gain stays finite

// A choice as four numbers: the logarithms of ratio and bucket size, the index of the codec, the
// index of the collective. pagmo requires integer variables to be the last ones.
class Problem {
 public:
  Problem() = default;
  Problem(const PlanInputs& inputs, const PlanPredictor& predictor)
      : inputs_(&inputs), predictor_(&predictor) {
    for (const wire::Collective kind : kCollectives) {
      // The codec does not matter, because only sums in the network depend on it.
      if (std::ranges::any_of(inputs.codecs, [&](const PlanCodec& codec) {
            return predictor.allowed(codec, kind);
          })) {
        collectives_.push_back(kind);
      }
    }
    for (const PlanCodec& codec : inputs.codecs) {
      if (predictor.allowed(codec)) codecs_.push_back(&codec);
    }
    ratio_low_ = inputs.policy.ratio_min;
    ratio_high_ = inputs.policy.ratio_max;
    const auto values = static_cast<double>(inputs.values);
    bucket_low_ = std::min(kRefinedBucketMin, values);
    bucket_high_ = std::min(kRefinedBucketMax, values);
  }

  pagmo::vector_double fitness(const pagmo::vector_double& x) const {
    const Place at = place(x);
    const PlanCost cost =
        predictor_->typical_cost(*at.codec, at.collective, at.ratio, at.bucket_values);
    // All objectives are minimized, so the gain is inverted.
    return {cost.compress_s, cost.exchange_s, 1 / std::max(cost.gain, kRefinedGainFloor)};
  }

  // pagmo requires an interval for every variable. If only one value is possible, place() maps
  // every draw to it.
  std::pair<pagmo::vector_double, pagmo::vector_double> get_bounds() const {
    const auto last = [](std::size_t count) {
      return std::max(static_cast<double>(count) - 1, 1.0);
    };
    return {{std::log(ratio_low_), std::log(bucket_low_), 0, 0},
            {std::log(ratio_high_) + kLeastGap, std::log(bucket_high_) + kLeastGap,
             last(codecs_.size()), last(collectives_.size())}};
  }
  pagmo::vector_double::size_type get_nobj() const { return 3; }
  pagmo::vector_double::size_type get_nix() const { return 2; }

  PlanOption option(const pagmo::vector_double& x) const {
    const Place at = place(x);
    return make_option(*predictor_, *at.codec, at.collective, at.ratio, at.bucket_values);
  }

  pagmo::vector_double numbers(const PlanChoice& choice) const {
    const PlanCodec* codec = find_codec(*inputs_, choice);
    const auto place = std::ranges::find(collectives_, choice.collective) - collectives_.begin();
    const auto [low, high] = get_bounds();
    return {std::clamp(std::log(choice.ratio), low[0], high[0]),
            std::clamp(std::log(static_cast<double>(choice.bucket_values)), low[1], high[1]),
            static_cast<double>(std::ranges::find(codecs_, codec) - codecs_.begin()),
            static_cast<double>(place)};
  }

 private:
  struct Place {
    const PlanCodec* codec;
    wire::Collective collective;
    double ratio;
    std::uint64_t bucket_values;
  };

  Place place(const pagmo::vector_double& x) const {
    // With a single entry the bounds still allow the value 1, which is out of range.
    const auto which = [](double number, std::size_t count) {
      return std::min(static_cast<std::size_t>(number), count - 1);
    };
    const PlanCodec& codec = *codecs_[which(x[2], codecs_.size())];
    const double ratio = std::clamp(std::exp(x[0]), ratio_low_, ratio_high_);
    const double values = std::clamp(std::exp(x[1]), bucket_low_, bucket_high_);
    return {.codec = &codec,
            .collective = collectives_[which(x[3], collectives_.size())],
            // A fixed codec has no ratio. The variable then has no effect, and no option may differ
            // by it.
            .ratio = codec.family == PlanFamily::fixed ? 1 : ratio,
            .bucket_values = static_cast<std::uint64_t>(std::llround(values))};
  }

  const PlanInputs* inputs_ = nullptr;
  const PlanPredictor* predictor_ = nullptr;
  std::vector<const PlanCodec*> codecs_;
  std::vector<wire::Collective> collectives_;
  double ratio_low_ = 1;
  double ratio_high_ = 1;
  double bucket_low_ = 0;
  double bucket_high_ = 0;
};

}  // namespace

std::vector<PlanOption> refine(const PlanInputs& inputs, const PlanPredictor& predictor,
                               const std::vector<PlanOption>& grid,
                               const PlanSearchOptions& options) {
  // An aggregator in the network has one codec and no ratio, so nothing is between its options.
  std::vector<PlanOption> start = grid;
  std::erase_if(start, [](const PlanOption& option) {
    return option.choice.collective == wire::Collective::in_network;
  });
  if (start.empty()) return {};
  const Problem problem(inputs, predictor);
  const auto seed = static_cast<unsigned>(options.seed);
  // The first generation repeats the grid's Pareto set until the population is full.
  pagmo::population population(pagmo::problem(problem), 0, seed);
  for (std::size_t i = 0; i < options.population; ++i) {
    population.push_back(problem.numbers(start[i % start.size()].choice));
  }
  // Crossover probability 0.95, its index 10, mutation probability 0.25 (one of four variables),
  // its index 20.
  const pagmo::nsga2 algorithm(options.generations, 0.95, 10, 0.25, 20, seed);
  population = algorithm.evolve(population);
  std::vector<PlanOption> found;
  for (const pagmo::vector_double& x : population.get_x()) found.push_back(problem.option(x));
  return found;
}

}  // namespace tributary
