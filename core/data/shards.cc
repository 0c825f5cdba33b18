#include "core/data/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/data/draws.h"
#include "core/data/portable_math.h"

namespace tributary {
namespace {

using Indices = std::vector<std::uint32_t>;

// The streams of draws of this purpose. The class or the agent is the second part of the address.
// Append, never reorder: a stream's number is part of the result.
enum class ShardStream : std::uint64_t { deal, order_in_class, parts, holdout };

Draws draws_for(std::uint64_t seed, ShardStream stream, std::uint32_t number) {
  return Draws({.job_seed = seed,
                .round = static_cast<std::uint64_t>(stream),
                .bucket = number,
                .purpose = DrawPurpose::data_shard});
}

// Fisher-Yates shuffle.
void shuffle(Indices& indices, Draws draws) {
  for (std::uint32_t left = static_cast<std::uint32_t>(indices.size()); left > 1; --left) {
    std::swap(indices[left - 1], indices[draws.below(left)]);
  }
}

// A standard normal variate (Marsaglia's polar method).
double normal(Draws& draws) {
  for (;;) {
    const double x = 2 * draws.unit() - 1;
    const double y = 2 * draws.unit() - 1;
    const double square = x * x + y * y;
    if (square >= 1 || square == 0) continue;
    return x * std::sqrt(-2 * portable_log(square) / square);
  }
}

// The logarithm of a gamma variate (Marsaglia and Tsang, "A simple method for generating gamma
// variables"). It is a logarithm because the variate itself often underflows for small shapes.
double log_gamma_variate(double shape, Draws& draws) {
  if (shape < 1) {
    // Half a step is added so that u is never 0.
    const double u = draws.unit() + 0x1p-33;
    const double raised = log_gamma_variate(shape + 1, draws);
    return raised + portable_log(u) / shape;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(draws);
    const double root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    const double u = draws.unit() + 0x1p-33;
    if (portable_log(u) < 0.5 * x * x + d - d * v + d * portable_log(v)) {
      return portable_log(d) + portable_log(v);
    }
  }
}

// Shares are normalised gamma variates. Subtracting the largest logarithm keeps at least one of
// them at 1, so the sum is never 0.
std::vector<double> dirichlet(double alpha, std::uint32_t parts, Draws& draws) {
  std::vector<double> shares(parts);
  for (double& share : shares) share = log_gamma_variate(alpha, draws);
  const double largest = *std::ranges::max_element(shares);
  for (double& share : shares) share = portable_exp(share - largest);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// Cuts `indices` at the rounded cumulative shares. The last agent gets the rest, so that rounding
// loses no example.
void deal(const Indices& indices, std::span<const double> shares, std::vector<Indices>& shards) {
  const auto count = static_cast<double>(indices.size());
  double sum = 0;
  std::size_t begin = 0;
  for (std::size_t agent = 0; agent < shares.size(); ++agent) {
    sum += shares[agent];
    std::size_t end = indices.size();
    if (agent + 1 < shares.size()) {
      const double cut = std::clamp(std::floor(sum * count + 0.5), 0.0, count);
      end = std::max(begin, static_cast<std::size_t>(cut));
    }
    shards[agent].insert(shards[agent].end(), indices.data() + begin, indices.data() + end);
    begin = end;
  }
}

// Gives every empty shard one example of the shard that is largest at that moment.
void feed_the_empty(std::vector<Indices>& shards) {
  for (Indices& shard : shards) {
    if (!shard.empty()) continue;
    Indices& richest = *std::ranges::max_element(shards, {}, &Indices::size);
    if (richest.size() < 2) return;
    shard.push_back(richest.back());
    richest.pop_back();
  }
}

Status refuse(std::string what, std::string expected, std::string got, std::string remedy = "") {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

Status check(const ShardOptions& options, std::uint32_t count,
             std::span<const std::uint16_t> labels, std::uint32_t classes) {
  if (options.agents == 0 || options.agents > kAgentsMax) {
    return refuse("agents to share the data", fmt::format("1 to {}", kAgentsMax),
                  fmt::format("{}", options.agents));
  }
  if (options.dirichlet_alpha == 0) return {};
  if (!(options.dirichlet_alpha >= 1e-3 && options.dirichlet_alpha <= 1e6)) {
    return refuse("Dirichlet skew", "an alpha from 0.001 to 1000000, or 0 for none",
                  fmt::format("{}", options.dirichlet_alpha));
  }
  if (labels.size() != count || count == 0) {
    return refuse("Dirichlet skew", "data with a class for each example",
                  labels.empty() ? "data without classes" : "labels of other data",
                  "share this data out without a skew (alpha 0)");
  }
  for (const std::uint16_t label : labels) {
    if (label >= classes) {
      return refuse("label", fmt::format("a number below {}", classes), fmt::format("{}", label));
    }
  }
  return {};
}

Indices first_numbers(std::uint32_t count) {
  Indices indices(count);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

// The examples of each class in ascending order; labels have been checked.
std::vector<Indices> by_class(std::span<const std::uint16_t> labels, std::uint32_t classes) {
  std::vector<Indices> members(classes);
  for (std::uint32_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(i);
  return members;
}

}  // namespace

Result<std::vector<std::vector<std::uint32_t>>> make_shards(const ShardOptions& options,
                                                            std::uint32_t count,
                                                            std::span<const std::uint16_t> labels,
                                                            std::uint32_t classes) {
  TRIBUTARY_TRY(check(options, count, labels, classes));
  std::vector<Indices> shards(options.agents);
  if (options.dirichlet_alpha == 0) {
    Indices all = first_numbers(count);
    shuffle(all, draws_for(options.seed, ShardStream::deal, 0));
    // Rounded boundaries: sizes differ by at most one.
    for (std::uint64_t agent = 0; agent < options.agents; ++agent) {
      const std::uint64_t begin = agent * count / options.agents;
      const std::uint64_t end = (agent + 1) * count / options.agents;
      shards[agent].assign(all.data() + begin, all.data() + end);
    }
  } else {
    std::vector<Indices> members = by_class(labels, classes);
    for (std::uint32_t label = 0; label < classes; ++label) {
      shuffle(members[label], draws_for(options.seed, ShardStream::order_in_class, label));
      Draws parts = draws_for(options.seed, ShardStream::parts, label);
      deal(members[label], dirichlet(options.dirichlet_alpha, options.agents, parts), shards);
    }
  }
  feed_the_empty(shards);
  for (Indices& shard : shards) std::ranges::sort(shard);
  return shards;
}

Result<Split> split_holdout(std::vector<std::uint32_t> examples, double share, std::uint64_t seed,
                            std::uint32_t agent) {
  if (!(share >= 0 && share < 1)) {
    return refuse("share of the examples to hold out", "0 or more, below 1",
                  fmt::format("{}", share));
  }
  shuffle(examples, draws_for(seed, ShardStream::holdout, agent));
  // Rounds down, so an agent with one example keeps it for training.
  const auto held = static_cast<std::ptrdiff_t>(static_cast<double>(examples.size()) * share);
  Split split;
  split.holdout.assign(examples.begin(), examples.begin() + held);
  split.train.assign(examples.begin() + held, examples.end());
  std::ranges::sort(split.holdout);
  std::ranges::sort(split.train);
  return split;
}

}  // namespace tributary
