#include "core/plan/inputs/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

// Bounds of valid inputs. They are far beyond real ones: a number outside has the wrong unit or
// comes from a damaged file. Within them no cost overflows.
constexpr std::size_t kInputAgentsMax = 65'536;
constexpr std::size_t kInputCodecsMax = 64;
constexpr std::size_t kStagesMax = 8;
constexpr std::size_t kWorldsMax = 256;
constexpr double kSecondsMax = 1e9;
constexpr double kInputBytesMax = 1e18;

// Collects the first failed check.
class Checks {
 public:
  // NaN fails both comparisons and is refused.
  void range(std::string_view what, double value, double low, double high) {
    if (value >= low && value <= high) return;
    fail(what, fmt::format("from {} to {}", low, high), fmt::format("{}", value));
  }
  // NaN means unknown and is valid here.
  void known_range(std::string_view what, double value, double low, double high) {
    if (!std::isnan(value)) range(what, value, low, high);
  }
  void count(std::string_view what, std::size_t value, std::size_t low, std::size_t high) {
    range(what, static_cast<double>(value), static_cast<double>(low), static_cast<double>(high));
  }
  // Checks the number of an enumerator of the schemas.
  template <typename Enum>
  void choice(std::string_view what, Enum value, Enum first, Enum last) {
    count(what, static_cast<std::size_t>(value), static_cast<std::size_t>(first),
          static_cast<std::size_t>(last));
  }
  void fail(std::string_view what, std::string expected, std::string got) {
    if (!status_.ok()) return;
    status_ =
        Status(StatusCode::invalid_argument,
               {.what = std::string(what), .expected = std::move(expected), .got = std::move(got)});
  }
  void take(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  Status status() const { return status_; }

 private:
  Status status_;
};

void check_agent(const PlanAgent& agent, Checks& checks) {
  checks.known_range("an agent's alpha_s", agent.alpha_s, 0, kSecondsMax);
  checks.known_range("an agent's beta_s_per_byte", agent.beta_s_per_byte, 0, kSecondsMax);
  checks.known_range("an agent's down_beta_s_per_byte", agent.down_beta_s_per_byte, 0, kSecondsMax);
  checks.range("an agent's weight", agent.weight, 0, kInputBytesMax);
  checks.known_range("an agent's compute_s", agent.compute_s, 0, kSecondsMax);
  checks.take(check(agent.gain));
  for (const auto& [spec, gain] : agent.tried) {
    checks.range("an agent's gain of " + spec, gain, 0, 1);
  }
}

void check_codec(const PlanCodec& codec, Checks& checks) {
  checks.count("a codec's stages", codec.stages.size(), 1, kStagesMax);
  checks.range("a codec's gain", codec.gain, 0, 1);
  checks.range("a codec's decode_s_per_value", codec.decode_s_per_value, 0, kSecondsMax);
  for (const PlanStage& stage : codec.stages) {
    for (const double bytes :
         {stage.up_bytes, stage.up_bytes_per_value, stage.down_bytes, stage.down_bytes_per_value}) {
      checks.range("a codec's bytes", bytes, 0, kInputBytesMax);
    }
    checks.range("a codec's encode_s_per_value", stage.encode_s_per_value, 0, kSecondsMax);
    checks.range("a codec's aggregate_s_per_value", stage.aggregate_s_per_value, 0, kSecondsMax);
  }
}

void check_world(const PlanWorld& world, const PlanInputs& inputs, Checks& checks) {
  const std::size_t codecs = inputs.codecs.size();
  const std::size_t agents = inputs.agents.size();
  checks.count("a world's links", world.links.size(), agents, agents);
  checks.count("a world's factors", world.cpu.size(), codecs, codecs);
  checks.count("a world's factors", world.size.size(), codecs, codecs);
  checks.count("a world's factors", world.times.size(), codecs * kCollectives.size(),
               codecs * kCollectives.size());
  visit_values(world,
               [&](double value) { checks.range("a world's value", value, 0, kSecondsMax); });
}

void check_before(const PlanBefore& before, Checks& checks) {
  if (before.choice.collective != wire::Collective::in_network) {
    checks.choice("the collective in force", before.choice.collective, kCollectives.front(),
                  kCollectives.back());
  }
  checks.range("the ratio in force", before.choice.ratio, 1e-9, 1);
  checks.count("the bucket's values in force", before.choice.bucket_values, 1,
               std::size_t{1} << 40);
  for (const double number : {before.link.alpha_s, before.link.beta_s_per_byte,
                              before.peers.alpha_s, before.peers.beta_s_per_byte}) {
    checks.range("an earlier link value", number, 0, kSecondsMax);
  }
  checks.range("the earlier time of an exchange", before.exchange_s, 0, kSecondsMax);
  checks.range("the weight of the downlink in force", before.down_weight, 1.0 / 64, 64);
  checks.range("the earlier gain", before.gain, 0, 1);
  if (!before.ratios.empty()) {
    checks.count("the agents' ratios in force", before.ratios.size(), before.agents, before.agents);
  }
  for (const double ratio : before.ratios) {
    checks.range("an agent's ratio in force", ratio, 1e-9, 1);
  }
  for (const auto& [spec, gain] : before.gains) {
    checks.range("the gain of " + spec + " as it was", gain, 0, 1);
  }
}

// At least one codec is left.
void check_allowed(const PlanInputs& inputs, Checks& checks) {
  const std::vector<std::string>& allowed = inputs.policy.codecs;
  if (allowed.empty()) return;
  const bool left = std::ranges::any_of(inputs.codecs, [&](const PlanCodec& codec) {
    return std::ranges::find(allowed, codec.spec) != allowed.end();
  });
  if (!left) {
    checks.fail("the allowed codecs", "one that is measured",
                fmt::format("{}", fmt::join(allowed, ", ")));
  }
}

void check_policy(const PlanPolicy& policy, Checks& checks) {
  checks.range("gain_weight", policy.gain_weight, 0, 100);
  checks.range("gain_min", policy.gain_min, 0, 1);
  checks.range("ratio_min", policy.ratio_min, 1e-6, 1);
  checks.range("ratio_max", policy.ratio_max, policy.ratio_min, 1);
  checks.range("hysteresis", policy.hysteresis, 0, 10);
  checks.range("link_change", policy.link_change, 0, 100);
  checks.range("gain_change", policy.gain_change, 0, 100);
  checks.range("exploring_share", policy.exploring_share, 0, 1);
  checks.count("the allowed codecs", policy.codecs.size(), 0, kInputCodecsMax);
  checks.count("the allowed collectives", policy.collectives.size(), 0, kInputCodecsMax);
  for (const wire::Collective kind : policy.collectives) {
    checks.choice("an allowed collective", kind, wire::Collective::star, wire::Collective::MAX);
  }
  checks.choice("the goal", policy.goal, wire::PlanGoal::adaptive, wire::PlanGoal::byte_budget);
  if (policy.goal == wire::PlanGoal::time_budget) {
    checks.range("the time that is left", policy.budget_s, -kSecondsMax, kSecondsMax);
  }
  if (policy.goal == wire::PlanGoal::byte_budget) {
    checks.range("the bytes that are left today", policy.bytes_left_today, -kInputBytesMax,
                 kInputBytesMax);
    checks.range("the seconds that are left today", policy.seconds_left_today, 0, 86'400);
  }
}

}  // namespace

Status check(const PlanInputs& inputs) {
  Checks checks;
  checks.count("values", inputs.values, 1, std::size_t{1} << 40);
  checks.count("agents", inputs.agents.size(), 1, kInputAgentsMax);
  checks.count("codecs", inputs.codecs.size(), 1, kInputCodecsMax);
  checks.range("the coordinator's beta_s_per_byte", inputs.hub_beta_s_per_byte, 0, kSecondsMax);
  checks.known_range("the peers' alpha_s", inputs.peer_alpha_s, 0, kSecondsMax);
  checks.known_range("the peers' beta_s_per_byte", inputs.peer_beta_s_per_byte, 0, kSecondsMax);
  checks.range("message_s", inputs.message_s, 0, kSecondsMax);
  checks.range("agent_slowdown", inputs.agent_slowdown, 1e-3, 1e3);
  checks.range("overhead_s", inputs.overhead_s, 0, kSecondsMax);
  checks.range("cores", inputs.cores, 1e-3, 1e6);
  checks.range("agreement", inputs.agreement, 0, 1);
  for (const PlanAgent& agent : inputs.agents) check_agent(agent, checks);
  for (const PlanCodec& codec : inputs.codecs) check_codec(codec, checks);
  checks.count("worlds", inputs.worlds.size(), 0, kWorldsMax);
  for (const PlanWorld& world : inputs.worlds) check_world(world, inputs, checks);
  checks.count("tried codecs", inputs.tried.size(), 0, kInputCodecsMax);
  for (const PlanTried& tried : inputs.tried) {
    checks.range("the gain when " + tried.spec + " was tried", tried.curve_gain, 0, 1);
  }
  if (inputs.before) check_before(*inputs.before, checks);
  check_policy(inputs.policy, checks);
  check_allowed(inputs, checks);
  return checks.status();
}

}  // namespace tributary
