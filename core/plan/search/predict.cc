#include "core/plan/search/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>

#include "core/cost/stage_sizes.h"

namespace tributary {
namespace {

constexpr double kExchangeMin_s = 1e-9;  // its logarithm is finite
constexpr int kRatioDigits = 3;          // significant digits of the ratio in a spec

double known_or(double value, double other) { return std::isnan(value) ? other : value; }

// The world of inputs without a belief: links are as stated, and nothing has a factor.
PlanWorld stated_world(const PlanInputs& inputs) {
  PlanWorld world = {.links = {}, .hub_s_per_byte = inputs.hub_beta_s_per_byte};
  for (const PlanAgent& agent : inputs.agents) {
    world.links.push_back({.alpha_s = known_or(agent.alpha_s, 0), .rate = link_of(agent)});
  }
  world.overhead_s = inputs.overhead_s;
  world.cpu.assign(inputs.codecs.size(), 1);
  world.size = world.cpu;
  world.times.assign(inputs.codecs.size() * kCollectives.size(), 1);
  world.summarize();
  const double rate = std::max(world.slowest.rate.up, world.slowest.rate.down);
  world.peers = {.alpha_s = known_or(inputs.peer_alpha_s, world.slowest.alpha_s),
                 .beta_s_per_byte = known_or(inputs.peer_beta_s_per_byte, rate)};
  return world;
}

// Size and time of a bucket of `values` values.
StagePayload payload_of(const PlanStage& stage, double values) {
  return {.flow = stage.flow,
          .up_bytes = stage.up_bytes + stage.up_bytes_per_value * values,
          .down_bytes = stage.down_bytes + stage.down_bytes_per_value * values,
          .encode_s = stage.encode_s_per_value * values,
          .aggregate_s = stage.aggregate_s_per_value * values};
}

// Seconds per byte at which the busiest member's upload would take as long as the longest of all.
// Members upload different numbers of segments, so the slowest link may have less to do.
double results_rate(const ExchangeWork& work, const PlanWorld& world) {
  const double busiest = settled_bytes(work);
  double slowest = 0;
  double longest_s = 0;
  for (std::uint32_t i = 0; i < work.agents; ++i) {
    const double up = world.links[i].rate.up;
    slowest = std::max(slowest, up);
    if (busiest * up > longest_s) longest_s = std::max(longest_s, settled_bytes(work, i) * up);
  }
  if (longest_s == 0) return world.slowest.rate.up;
  // A typical world's slowest link is slower than each of its links.
  return longest_s / busiest * world.slowest.rate.up / slowest;
}

// An aggregator in the network stands beside the agents, so their own network leads to it.
ExchangeCost exchange_of(wire::Collective collective, const ExchangeWork& work,
                         const ExchangeNetwork& network, const LinkEstimate& peers) {
  return collective == wire::Collective::in_network ? predict_in_network(work, network, peers)
                                                    : predict_exchange(collective, work, network);
}

}  // namespace

PlanPredictor::PlanPredictor(const PlanInputs& inputs) : inputs_(inputs), worlds_(inputs.worlds) {
  std::vector<GainPoints> gains;
  for (const PlanAgent& agent : inputs.agents) {
    links_differ_ |= link_of(agent).up != link_of(inputs.agents.front()).up;
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
  for (const PlanCodec& codec : inputs.codecs) fixed_gains_.push_back(tried_gain(codec));
  if (worlds_.empty()) {
    typical_ = worlds_.emplace_back(stated_world(inputs));
  } else {
    typical_ = typical_world(worlds_);
  }
  star_stands_in_ = std::ranges::none_of(inputs.codecs, [&](const PlanCodec& codec) {
    return std::ranges::any_of(kPlannedCollectives, [&](wire::Collective collective) {
      return allowed(codec, collective);
    });
  });
}

LinkEstimate PlanPredictor::slowest_link() const {
  const PlanWorld::Link& slowest = typical_.slowest;
  return {.alpha_s = slowest.alpha_s,
          .beta_s_per_byte = std::max(slowest.rate.up, slowest.rate.down)};
}

bool PlanPredictor::possible(wire::Collective collective) const {
  if (collective == wire::Collective::star) return true;
  const bool offered = collective == wire::Collective::in_network ? inputs_.aggregator_present
                                                                  : inputs_.peers_reachable;
  return offered && inputs_.agents.size() > 1;
}

bool PlanPredictor::allowed(const PlanCodec& codec) const {
  const std::vector<std::string>& codecs = inputs_.policy.codecs;
  return codecs.empty() || std::ranges::find(codecs, codec.spec) != codecs.end();
}

bool PlanPredictor::allowed(const PlanCodec& codec, wire::Collective collective) const {
  if (!allowed(codec) || !possible(codec, collective)) return false;
  const std::vector<wire::Collective>& kinds = inputs_.policy.collectives;
  return kinds.empty() || std::ranges::find(kinds, collective) != kinds.end() ||
         (collective == wire::Collective::star && star_stands_in_);
}

PreparedExchange PlanPredictor::prepare(const PlanCodec& codec, wire::Collective collective,
                                        double ratio, std::uint64_t bucket_values) const {
  const auto all = static_cast<double>(inputs_.values);
  PreparedExchange prepared = {.collective = collective,
                               .codec = place_of(codec),
                               .buckets = std::ceil(all / static_cast<double>(bucket_values)),
                               .bytes = {.ratio = ratio}};
  // Buckets of equal size: the last one is not smaller, because the exchange's model takes a mean
  // bucket.
  const double values = all / prepared.buckets;
  prepared.decode_s = codec.decode_s_per_value * values;
  std::vector<StagePayload>& stages = prepared.stages;
  if (codec.family == PlanFamily::fixed) {
    for (const PlanStage& stage : codec.stages) stages.push_back(payload_of(stage, values));
  } else {
    stages = codec.family == PlanFamily::ar_top_k
                 ? ar_top_k_stages(values, ratio)
                 : top_k_stages(values, ratio, static_cast<std::uint32_t>(inputs_.agents.size()));
    // For codecs with a ratio, sizes come from formulas and times from the measurement.
    stages.front().encode_s = codec.stages.front().encode_s_per_value * values;
    stages.back().aggregate_s = codec.stages.back().aggregate_s_per_value * values;
  }
  for (const StagePayload& stage : stages) {
    const bool is_broadcast = stage.flow == StageFlow::from_root;
    prepared.bytes.up += stage.up_bytes * prepared.buckets;
    prepared.bytes.down += (is_broadcast ? stage.up_bytes : stage.down_bytes) * prepared.buckets;
  }
  if (collective == wire::Collective::star) prepared.ratios = ratios_of(codec, prepared.bytes);
  return prepared;
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
double PlanPredictor::star_rate(const PreparedExchange& prepared, const PlanWorld& world,
                                const RatioBytes& bytes) const {
  double up_s = world.slowest.rate.up * bytes.up;
  if (!prepared.ratios.empty()) {
    up_s = 0;
    for (std::size_t i = 0; i < prepared.ratios.size(); ++i) {
      up_s = std::max(up_s, world.links[i].rate.up * bytes.up * prepared.ratios[i] / bytes.ratio);
    }
  }
  return std::max(up_s, world.slowest.rate.down * bytes.down) / std::max(bytes.up, bytes.down);
}

ExchangeParts PlanPredictor::parts_s(const PreparedExchange& prepared,
                                     const PlanWorld& world) const {
  constexpr std::size_t kStages = 8;  // as check() allows
  std::array<StagePayload, kStages> stages;
  const double cpu = world.cpu[prepared.codec];
  const double size = world.size[prepared.codec];
  const std::size_t count = std::min(prepared.stages.size(), kStages);
  for (std::size_t i = 0; i < count; ++i) {
    stages[i] = prepared.stages[i];
    stages[i].up_bytes *= size;
    stages[i].down_bytes *= size;
    stages[i].encode_s *= cpu;
    stages[i].aggregate_s *= cpu;
  }
  const RatioBytes bytes = {.ratio = prepared.bytes.ratio,
                            .up = prepared.bytes.up * size,
                            .down = prepared.bytes.down * size};
  const bool star = prepared.collective == wire::Collective::star;
  LinkEstimate link = world.peers;
  if (star || prepared.collective == wire::Collective::in_network) {
    link = {.alpha_s = world.slowest.alpha_s, .beta_s_per_byte = star_rate(prepared, world, bytes)};
  }
  const ExchangeWork work = {.agents = static_cast<std::uint32_t>(inputs_.agents.size()),
                             .buckets = static_cast<std::uint32_t>(prepared.buckets),
                             .stages = std::span(stages).first(count),
                             .decode_s = prepared.decode_s * cpu,
                             .message_s = inputs_.message_s,
                             .agent_slowdown = inputs_.agent_slowdown,
                             .cores = inputs_.cores};
  const ExchangeNetwork network = {
      .agents = link,
      .hub = {.alpha_s = world.slowest.alpha_s, .beta_s_per_byte = world.hub_s_per_byte}};
  double seconds = exchange_of(prepared.collective, work, network, world.peers).seconds;
  double upload_s = 0;
  if (inputs_.settled) {
    const PlanWorld::Link& own = world.slowest;
    seconds += own.rate.down * kPlanAndCommitBytes;
    // By the star, reports travel while the results come down. Among peers, the results and the
    // reports go up, and the commit comes back.
    if (!star) {
      upload_s = 2 * own.alpha_s + own.rate.up * kReportBytes;
      const double up = results_rate(work, world);
      upload_s += hides_upload(prepared.collective)
                      ? settled_bytes(work) * up
                      : with_upload_s(work, seconds, up, world.peers.beta_s_per_byte) - seconds;
    }
  }
  const double factor = prepared.collective == wire::Collective::in_network
                            ? world.in_network
                            : world.times[times_place(prepared.codec, prepared.collective)];
  return {.exchange_s = seconds * factor, .upload_s = upload_s * factor + world.overhead_s};
}

double PlanPredictor::beyond_training_s(const PreparedExchange& prepared,
                                        const PlanWorld& world) const {
  const ExchangeParts parts = parts_s(prepared, world);
  if (!hides_upload(prepared.collective)) return parts.exchange_s + parts.upload_s;
  return parts.exchange_s + std::max(parts.upload_s - compute_s_, 0.0);
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
  return prepare(codec, collective, ratio, bucket_values).ratios;
}

// Everything but the times.
PlanCost PlanPredictor::cost_of(const PreparedExchange& prepared, double ratio) const {
  const PlanCodec& codec = inputs_.codecs[prepared.codec];
  PlanCost cost = {.gain = prepared.ratios.empty() ? gain_of(codec, ratio)
                                                   : gain_of_each(prepared.ratios)};
  const ExchangeWork work = {.agents = static_cast<std::uint32_t>(inputs_.agents.size()),
                             .buckets = static_cast<std::uint32_t>(prepared.buckets),
                             .stages = prepared.stages};
  const ExchangeCost traffic = exchange_of(prepared.collective, work, {}, {});
  const double size = typical_.size[prepared.codec];
  const bool settles = inputs_.settled && prepared.collective != wire::Collective::star;
  cost.bytes_up = (traffic.bytes_sent + (settles ? settled_bytes(work) : 0)) * size;
  cost.bytes_down = traffic.bytes_received * size;
  // compress_s is a sum over all buckets although encoding overlaps with sending: it is a criterion
  // of its own, the load on the device.
  cost.compress_s = prepared.decode_s * prepared.buckets;
  for (const StagePayload& stage : prepared.stages) {
    cost.compress_s += stage.encode_s * prepared.buckets;
  }
  cost.compress_s *= typical_.cpu[prepared.codec];
  return cost;
}

PlanCost PlanPredictor::cost(const PlanCodec& codec, wire::Collective collective, double ratio,
                             std::uint64_t bucket_values) const {
  const PreparedExchange prepared = prepare(codec, collective, ratio, bucket_values);
  PlanCost cost = cost_of(prepared, ratio);
  if (worlds_.size() == 1) {
    cost.exchange_s = beyond_training_s(prepared, worlds_.front());
    cost.round_s = compute_s_ + cost.exchange_s;
    return cost;
  }
  double exchange_logs = 0;
  double round_logs = 0;
  for (const PlanWorld& world : worlds_) {
    const double seconds = std::max(beyond_training_s(prepared, world), kExchangeMin_s);
    exchange_logs += std::log(seconds);
    round_logs += std::log(compute_s_ + seconds);
  }
  const auto count = static_cast<double>(worlds_.size());
  cost.exchange_s = std::exp(exchange_logs / count);
  cost.round_s = std::exp(round_logs / count);
  return cost;
}

PlanCost PlanPredictor::typical_cost(const PlanCodec& codec, wire::Collective collective,
                                     double ratio, std::uint64_t bucket_values) const {
  const PreparedExchange prepared = prepare(codec, collective, ratio, bucket_values);
  PlanCost cost = cost_of(prepared, ratio);
  cost.exchange_s = beyond_training_s(prepared, typical_);
  cost.round_s = compute_s_ + cost.exchange_s;
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
