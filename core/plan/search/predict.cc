#include "core/plan/search/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "core/cost/stage_sizes.h"
#include "core/plan/inputs/learned_factor.h"

namespace tributary {
namespace {

constexpr int kRatioDigits = 3;  // significant digits of the ratio in a spec

double known_or(double value, double other) { return std::isnan(value) ? other : value; }

// Size and time of a bucket of `values` values.
StagePayload payload_of(const PlanStage& stage, double values) {
  return {.flow = stage.flow,
          .up_bytes = stage.up_bytes + stage.up_bytes_per_value * values,
          .down_bytes = stage.down_bytes + stage.down_bytes_per_value * values,
          .encode_s = stage.encode_s_per_value * values,
          .aggregate_s = stage.aggregate_s_per_value * values};
}

}  // namespace

PlanPredictor::PlanPredictor(const PlanInputs& inputs) : inputs_(inputs) {
  std::vector<GainPoints> gains;
  for (const PlanAgent& agent : inputs.agents) {
    assumed_ |= std::isnan(agent.alpha_s) || std::isnan(agent.beta_s_per_byte);
    const AgentLink link = link_of(agent);
    links_differ_ |= link.up != link_of(inputs.agents.front()).up;
    slowest_ = {.up = std::max(slowest_.up, link.up), .down = std::max(slowest_.down, link.down)};
    slowest_link_.alpha_s =
        std::max(slowest_link_.alpha_s, known_or(agent.alpha_s, kAssumedAlpha_s));
    compute_s_ = std::max(compute_s_, known_or(agent.compute_s, 0));
    gains.push_back(agent.gain);
    // Updates of equal norm are assumed, so an agent's part in the joint update's energy is the
    // square of its weight.
    shares_.push_back(agent.weight * agent.weight);
  }
  const double energy = std::accumulate(shares_.begin(), shares_.end(), 0.0);
  const double alike = 1 / static_cast<double>(shares_.size());
  for (double& share : shares_) share = energy > 0 ? share / energy : alike;
  gain_ = joint_gain(gains, shares_);
  // The star's model has one rate for both directions, so the slower one is taken.
  slowest_link_.beta_s_per_byte = std::max(slowest_.up, slowest_.down);
  peers_ = {
      .alpha_s = known_or(inputs.peer_alpha_s, slowest_link_.alpha_s),
      .beta_s_per_byte = known_or(inputs.peer_beta_s_per_byte, slowest_link_.beta_s_per_byte)};
  for (const PlanCodec& codec : inputs.codecs) {
    fixed_gains_.push_back(tried_gain(codec));
    auto& factors = corrections_.emplace_back();
    for (const wire::Collective kind : kCollectives) {
      factors[static_cast<std::size_t>(kind)] = learned_factor(inputs.corrections, kind, codec);
    }
  }
}

bool PlanPredictor::possible(wire::Collective collective) const {
  if (collective == wire::Collective::star) return true;
  return inputs_.peers_reachable && inputs_.agents.size() > 1;
}

PlanPredictor::Buckets PlanPredictor::buckets_of(const PlanCodec& codec, double ratio,
                                                 std::uint64_t bucket_values) const {
  const auto all = static_cast<double>(inputs_.values);
  Buckets buckets = {.count = std::ceil(all / static_cast<double>(bucket_values)), .stages = {}};
  // Buckets of equal size: the last one is not smaller, because the exchange's model takes a mean
  // bucket.
  const double values = all / buckets.count;
  if (codec.family == PlanFamily::fixed) {
    for (const PlanStage& stage : codec.stages) {
      buckets.stages.push_back(payload_of(stage, values));
    }
    return buckets;
  }
  buckets.stages =
      codec.family == PlanFamily::ar_top_k
          ? ar_top_k_stages(values, ratio)
          : top_k_stages(values, ratio, static_cast<std::uint32_t>(inputs_.agents.size()));
  // For codecs with a ratio, sizes come from formulas and times from the measurement.
  buckets.stages.front().encode_s = codec.stages.front().encode_s_per_value * values;
  buckets.stages.back().aggregate_s = codec.stages.back().aggregate_s_per_value * values;
  return buckets;
}

RatioBytes PlanPredictor::bytes_of(const Buckets& buckets, double ratio) const {
  RatioBytes bytes = {.ratio = ratio};
  for (const StagePayload& stage : buckets.stages) {
    const bool is_broadcast = stage.flow == StageFlow::from_root;
    bytes.up += stage.up_bytes * buckets.count;
    bytes.down += (is_broadcast ? stage.up_bytes : stage.down_bytes) * buckets.count;
  }
  return bytes;
}

std::vector<double> PlanPredictor::ratios_of(const PlanCodec& codec,
                                             const RatioBytes& bytes) const {
  // Positions differ between agents only with top_k; in ar_top_k all agents send the same
  // positions, so they must keep equally many.
  if (codec.family != PlanFamily::top_k || !links_differ_ || !inputs_.own_ratios) return {};
  return agent_ratios(inputs_, bytes);
}

// The cost model has one rate for both directions. It gets the rate of the direction that takes
// longer.
LinkEstimate PlanPredictor::star_link(const RatioBytes& bytes,
                                      const std::vector<double>& ratios) const {
  double up_s = slowest_.up * bytes.up;
  if (!ratios.empty()) {
    up_s = 0;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      up_s = std::max(up_s, link_of(inputs_.agents[i]).up * bytes.up * ratios[i] / bytes.ratio);
    }
  }
  const double longest_s = std::max(up_s, slowest_.down * bytes.down);
  return {.alpha_s = slowest_link_.alpha_s,
          .beta_s_per_byte = longest_s / std::max(bytes.up, bytes.down)};
}

// Every agent uploads its share of the result to the coordinator, and receives the commit.
double PlanPredictor::settle_s(const RatioBytes& bytes) const {
  if (!inputs_.settled) return 0;
  const auto agents = static_cast<double>(inputs_.agents.size());
  return 2 * slowest_link_.alpha_s + slowest_.up * bytes.down / agents;
}

// Agents that tried the codec represent the others; without any of them the gain on synthetic
// values stays.
double PlanPredictor::tried_gain(const PlanCodec& codec) const {
  double share = 0;
  double gain = 0;
  for (std::size_t i = 0; i < inputs_.agents.size(); ++i) {
    const auto own = inputs_.agents[i].tried.find(codec.spec);
    if (own == inputs_.agents[i].tried.end()) continue;
    share += shares_[i];
    gain += shares_[i] * own->second;
  }
  return share > 0 ? std::min(gain / share, 1.0) : codec.gain;
}

double PlanPredictor::gain_of(const PlanCodec& codec, double ratio) const {
  switch (codec.family) {
    case PlanFamily::fixed:
      return fixed_gain(codec);
    case PlanFamily::top_k:
      return gain_.at(ratio);
    case PlanFamily::ar_top_k: {
      // The root's positions hold the root's own energy, and of another agent's energy the share
      // that both have in common. Random positions would hold `ratio` of it.
      const auto n = static_cast<double>(inputs_.agents.size());
      const double own = gain_.at(ratio);
      const double others = ratio + inputs_.agreement * (own - ratio);
      return (own + (n - 1) * std::min(others, own)) / n;
    }
  }
  return 0;
}

double PlanPredictor::gain_of_each(const std::vector<double>& ratios) const {
  double gain = 0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const GainPoints& own = inputs_.agents[i].gain;
    // An agent without a report of its own is represented by the joint curve.
    gain += shares_[i] * (own.known() ? own : gain_).at(ratios[i]);
  }
  return gain;
}

std::vector<double> PlanPredictor::ratios(const PlanCodec& codec, wire::Collective collective,
                                          double ratio, std::uint64_t bucket_values) const {
  if (collective != wire::Collective::star) return {};
  return ratios_of(codec, bytes_of(buckets_of(codec, ratio, bucket_values), ratio));
}

PlanCost PlanPredictor::cost(const PlanCodec& codec, wire::Collective collective, double ratio,
                             std::uint64_t bucket_values) const {
  const Buckets buckets = buckets_of(codec, ratio, bucket_values);
  const double decode_s =
      codec.decode_s_per_value * static_cast<double>(inputs_.values) / buckets.count;
  PlanCost cost = {.gain = gain_of(codec, ratio)};
  LinkEstimate link = peers_;
  const RatioBytes bytes = bytes_of(buckets, ratio);
  const bool star = collective == wire::Collective::star;
  if (star) {
    const std::vector<double> ratios = ratios_of(codec, bytes);
    if (!ratios.empty()) cost.gain = gain_of_each(ratios);
    link = star_link(bytes, ratios);
  }
  const ExchangeCost exchange = predict_exchange(
      collective,
      {.agents = static_cast<std::uint32_t>(inputs_.agents.size()),
       .buckets = static_cast<std::uint32_t>(buckets.count),
       .stages = buckets.stages,
       .decode_s = decode_s,
       .message_s = inputs_.message_s,
       .cores = inputs_.cores},
      {.agents = link,
       .hub = {.alpha_s = slowest_link_.alpha_s, .beta_s_per_byte = inputs_.hub_beta_s_per_byte}});
  // compress_s is a sum over all buckets although encoding overlaps with sending: it is a criterion
  // of its own, the load on the device.
  for (const StagePayload& stage : buckets.stages) {
    cost.compress_s += stage.encode_s * buckets.count;
  }
  cost.compress_s += decode_s * buckets.count;
  const double modelled_s = exchange.seconds + (star ? 0 : settle_s(bytes));
  // The correction applies to the exchange only. The overhead is measured separately and is equal
  // for all choices.
  cost.exchange_s =
      modelled_s * corrections_[place_of(codec)][static_cast<std::size_t>(collective)] +
      inputs_.overhead_s;
  cost.round_s = compute_s_ + cost.exchange_s;
  cost.bytes_up = exchange.bytes_sent;
  cost.bytes_down = exchange.bytes_received;
  return cost;
}

const PlanCodec* find_codec(const PlanInputs& inputs, const PlanChoice& choice) {
  const auto found = std::ranges::find_if(inputs.codecs, [&](const PlanCodec& codec) {
    return make_choice(codec, choice.collective, choice.ratio, choice.bucket_values) == choice;
  });
  return found == inputs.codecs.end() ? nullptr : &*found;
}

PlanChoice make_choice(const PlanCodec& codec, wire::Collective collective, double ratio,
                       std::uint64_t bucket_values) {
  PlanChoice choice = {
      .codec = codec.spec, .collective = collective, .bucket_values = bucket_values};
  if (codec.family == PlanFamily::fixed) return choice;
  // The ratio is rounded to the digits of the spec, so that the prediction is for exactly the ratio
  // that the codec will use.
  const std::string digits = fmt::format("{:.{}g}", ratio, kRatioDigits);
  choice.ratio = std::strtod(digits.c_str(), nullptr);
  const char separator = codec.spec.find(':') == std::string::npos ? ':' : ',';
  choice.codec += fmt::format("{}cr={}", separator, digits);
  return choice;
}

}  // namespace tributary
