#include "core/round/coordinator/job/fusion_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/update/layer_groups.h"

namespace tributary {
namespace {

// The bytes that a payload or a result has around it on a link: its frame and its receipt.
constexpr double kAroundPayloadBytes = 256;

bool is_exact_layer(const JobModel& job, std::size_t layer) {
  return job.wire().layer_map()->layers()->Get(static_cast<std::uint32_t>(layer))->exact();
}

void keep_least(std::optional<double>& least, double value) {
  if (std::isfinite(value) && value >= 0 && (!least || value < *least)) least = value;
}

// The cost of a group and of a byte, from the total of one group and that of `groups` groups.
StageCost stage_cost(double one_s, double many_s, double groups, double bytes) {
  StageCost cost;
  if (groups > 1) cost.alpha_s = std::max(0.0, (many_s - one_s) / (groups - 1));
  if (bytes > 0) cost.beta_s_per_byte = std::max(0.0, one_s - cost.alpha_s) / bytes;
  return cost;
}

// The cost of a group and of a byte of the layers on a link, from the bytes that it carries in both
// layouts. The exact layers have buckets of their own in both of them.
StageCost link_cost(double s_per_byte, double one_bytes, double many_bytes, double exact_bytes,
                    double groups, double bytes) {
  const StageCost sent = stage_cost(std::max(0.0, one_bytes - exact_bytes),
                                    std::max(0.0, many_bytes - exact_bytes), groups, bytes);
  return {.alpha_s = s_per_byte * (sent.alpha_s + kAroundPayloadBytes),
          .beta_s_per_byte = s_per_byte * sent.beta_s_per_byte};
}

StageCost sum(const StageCost& a, const StageCost& b) {
  return {.alpha_s = a.alpha_s + b.alpha_s,
          .beta_s_per_byte = a.beta_s_per_byte + b.beta_s_per_byte};
}

StageCost greater(const StageCost& a, const StageCost& b) {
  return {.alpha_s = std::max(a.alpha_s, b.alpha_s),
          .beta_s_per_byte = std::max(a.beta_s_per_byte, b.beta_s_per_byte)};
}

// The participants of a request, at most `most` of them.
std::vector<std::string> asked(const PlanRequest& request, const Membership& membership,
                               std::size_t most) {
  std::vector<std::string> agents;
  for (std::uint32_t i = 0; i < membership.size() && agents.size() < most; ++i) {
    if (request.participants.test(i)) agents.push_back(membership.members()[i].agent_id);
  }
  return agents;
}

}  // namespace

bool FusionPolicy::optimal() const {
  const Result<LayerGrouping> grouping = parse_layer_grouping(job_.policy().fusion);
  return grouping.ok() && grouping->rule == LayerGrouping::Rule::optimal;
}

std::optional<FusionPolicy::Layout> FusionPolicy::layout_of(std::uint64_t round) const {
  const auto found = profiled_.find(round);
  return found == profiled_.end() ? std::nullopt : std::optional(found->second);
}

void FusionPolicy::complete(PlanRequest& request, const Membership& membership) {
  if (!optimal()) return;
  if (!job_.coordinator.config.plan_fusion) {
    request.reason += "; no solver for the groups of layers is available";
    return;
  }
  const std::vector<std::string> agents = asked(request, membership, kAgentsMax);
  const bool unknown = std::ranges::any_of(agents, [&](const std::string& agent) {
    const auto known = agents_.find(agent);
    return known == agents_.end() ? agents_.size() < kAgentsMax : known->second.unfinished();
  });
  if (unknown || layout_of(request.key.round)) return profile_round(request, agents);
  if (agents != solved_for_) solve(agents);
  request.groups = groups_;
  request.reason += reason_;
}

// Another attempt at a round keeps its layout, because encoders have memory of the buckets.
void FusionPolicy::profile_round(PlanRequest& request, const std::vector<std::string>& agents) {
  constexpr std::size_t kProfiledMax = 16;
  const std::uint64_t round = request.key.round;
  if (!layout_of(round)) {
    profiled_[round] = profiled_rounds_++ % 2 == 0 ? whole : layerwise;
    if (profiled_.size() > kProfiledMax) profiled_.erase(profiled_.begin());
    for (const std::string& agent : agents) {
      if (agents_.size() < kAgentsMax || agents_.contains(agent)) ++agents_[agent].rounds;
    }
    solved_for_.clear();
  }
  request.profile_requested = true;
  if (layout_of(round) == whole) request.groups = {fused_layers(*job_.model)};
  request.reason += "; the layers are profiled";
}

void FusionPolicy::report(const std::string& agent_id, const wire::Report& report) {
  if (!optimal()) return;
  const auto found = agents_.find(agent_id);
  if (found == agents_.end()) return;
  AgentProfile& agent = found->second;
  const std::uint64_t round = report.id()->round();
  if (const auto layout = layout_of(round)) keep_least(agent.encode_s[*layout], report.encode_s());
  // A report has the costs of the round before it that are known only with the commit.
  if (const auto layout = layout_of(round - 1); layout && report.bytes_up() > 0) {
    keep_least(agent.decode_s[*layout], report.decode_s());
    keep_least(agent.payload_bytes[*layout], static_cast<double>(report.bytes_up()));
    keep_least(agent.result_bytes[*layout], static_cast<double>(report.bytes_down()));
    if (report.exchange_s() > 0) keep_least(exchange_s_[*layout], report.exchange_s());
  }
  if (!layout_of(round) || !report.ready_s() ||
      report.ready_s()->size() != job_.model->layers().layers().size()) {
    return;
  }
  const std::vector<double> ready_s(report.ready_s()->begin(), report.ready_s()->end());
  const auto valid = [](double s) { return s >= 0 && s <= kFusionSecondsMax; };
  if (ready_s.empty() || !std::ranges::all_of(ready_s, valid)) return;
  // The fastest training is the least disturbed one.
  const double training_s = std::ranges::max(ready_s);
  const Layout layout = *layout_of(round);
  const std::optional<double> least_s = agent.training_s[whole];
  if (layout == whole && (!least_s || training_s < *least_s)) agent.ready_s = ready_s;
  keep_least(agent.training_s[layout], training_s);
}

// Only a round that sends one group measures the rate alone: the groups of another one wait for
// their layers.
void FusionPolicy::report_commit(const ActiveRound& round, const Membership& membership) {
  if (!optimal() || layout_of(round.key().round) != whole || round.plan().by_members()) return;
  for (std::uint32_t i = 0; i < membership.size() && i < round.members().size(); ++i) {
    const RoundMember& member = round.members()[i];
    const auto agent = agents_.find(membership.members()[i].agent_id);
    const TimeNs took = member.last_part_at_ns - member.first_part_at_ns;
    if (agent == agents_.end() || member.bytes_after_first == 0 || took <= 0) continue;
    keep_least(agent->second.uplink_s_per_byte,
               static_cast<double>(took) / 1e9 / static_cast<double>(member.bytes_after_first));
  }
}

void FusionPolicy::saw_downlink(const std::string& agent_id, double s_per_byte) {
  const auto agent = agents_.find(agent_id);
  if (agent != agents_.end()) keep_least(agent->second.downlink_s_per_byte, s_per_byte);
}

// --- the choice --------------------------------------------------------------------------------

// The time of each layer that is not exact, the last layer first: the slowest agent's.
std::vector<double> FusionPolicy::backward_s(const std::vector<std::string>& agents) const {
  std::vector<double> slowest(fused_layers(*job_.model), 0.0);
  const std::size_t layers = job_.model->layers().layers().size();
  for (const std::string& name : agents) {
    const auto found = agents_.find(name);
    if (found == agents_.end() || found->second.ready_s.size() != layers) continue;
    double before_s = 0;
    std::size_t place = 0;
    for (std::size_t layer = layers; layer-- > 0;) {
      if (is_exact_layer(*job_.model, layer)) continue;
      const double ready_s = std::max(found->second.ready_s[layer], before_s);
      slowest[place] = std::max(slowest[place], ready_s - before_s);
      before_s = ready_s;
      ++place;
    }
  }
  return slowest;
}

FusionProfile FusionPolicy::profile_of(const std::vector<std::string>& agents) const {
  FusionProfile profile;
  profile.backward_s = backward_s(agents);
  const std::span<const Layer> layers = job_.model->layers().layers();
  double bytes = 0;
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    if (is_exact_layer(*job_.model, layer)) continue;
    profile.bytes.push_back(static_cast<double>(layers[layer].count) * sizeof(float));
    bytes += profile.bytes.back();
  }
  const double exact_bytes = static_cast<double>(job_.model->values()) * sizeof(float) - bytes;
  const auto groups = static_cast<double>(profile.bytes.size());
  for (const std::string& name : agents) {
    const auto found = agents_.find(name);
    if (found == agents_.end() || !found->second.complete()) continue;
    const AgentProfile& agent = found->second;
    // Encoding and sending share the processor with the training.
    const double slowed_s =
        agent.training_s[layerwise].value_or(0) - agent.training_s[whole].value_or(0);
    const StageCost beside = stage_cost(0, std::max(0.0, slowed_s), groups, bytes);
    profile.compress = greater(
        profile.compress,
        sum(beside, stage_cost(*agent.encode_s[whole], *agent.encode_s[layerwise], groups, bytes)));
    profile.network = greater(
        profile.network, link_cost(agent.uplink_s_per_byte.value_or(0), *agent.payload_bytes[whole],
                                   *agent.payload_bytes[layerwise], exact_bytes, groups, bytes));
    // The last stage: a result comes back, or is exchanged among peers, and is decoded.
    const StageCost received =
        exchange_s_[whole] && exchange_s_[layerwise]
            ? stage_cost(*exchange_s_[whole], *exchange_s_[layerwise], groups, bytes)
            : link_cost(agent.downlink_s_per_byte.value_or(0), *agent.result_bytes[whole],
                        *agent.result_bytes[layerwise], exact_bytes, groups, bytes);
    profile.decode = greater(
        profile.decode, sum(received, stage_cost(*agent.decode_s[whole], *agent.decode_s[layerwise],
                                                 groups, bytes)));
  }
  return profile;
}

// Without a complete profile every layer stays a group.
void FusionPolicy::solve(const std::vector<std::string>& agents) {
  solved_for_ = agents;
  groups_.clear();
  const auto measured = std::ranges::count_if(agents, [&](const std::string& name) {
    const auto found = agents_.find(name);
    return found != agents_.end() && found->second.complete();
  });
  if (measured == 0) {
    reason_ = "; no agent has reported a profile of its layers";
    return;
  }
  const FusionProfile profile = profile_of(agents);
  const Result<FusionPlan> plan = job_.coordinator.config.plan_fusion(profile);
  if (!plan.ok()) {
    reason_ = "; the profile of the layers cannot be used";
    job_.coordinator.note(LogLevel::warning, "fusion_refused", name(plan.status().code()), {},
                          plan.status().text(), {.job = job_.id()});
    return;
  }
  groups_ = plan->groups;
  const double backward =
      std::accumulate(profile.backward_s.begin(), profile.backward_s.end(), 0.0);
  reason_ = fmt::format(
      "; {} agents profiled: backward {:.3g} ms, a group costs {:.3g} ms to encode, {:.3g} ms to "
      "send and {:.3g} ms to take the result, predicted {:.3g} ms to the last result{}",
      measured, backward * 1e3, profile.compress.alpha_s * 1e3, profile.network.alpha_s * 1e3,
      profile.decode.alpha_s * 1e3, plan->iteration_s * 1e3,
      plan->optimal ? "" : " (not proven optimal)");
}

}  // namespace tributary
