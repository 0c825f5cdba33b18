#include "core/round/common/machine/policy.h"

#include <fmt/format.h>

#include <cmath>

#include "schemas/limits.h"

namespace tributary {
namespace {

// 1 had neither agents nor a fraction, 2 no collective, 3 no planning, 4 no exploring
constexpr std::uint32_t kPolicyVersion = 5;
constexpr std::size_t kPolicyBytesMax = 2u << 20;
constexpr std::uint32_t kCodecsMax = 256;
constexpr std::uint32_t kAgentsMax = 16'384;
constexpr std::uint32_t kSpecBytesMax = 200;

Status wrong(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = "change the job's policy"});
}

Status finite_from(std::string what, double value, double min) {
  if (std::isfinite(value) && value >= min) return {};
  return wrong(std::move(what), fmt::format("a number from {}", min), fmt::format("{}", value));
}

Status write_text(ByteWriter& writer, const std::string& text) {
  TRIBUTARY_TRY(writer.write(static_cast<std::uint32_t>(text.size())));
  return writer.append(bytes_of(text));
}

Result<std::string> read_text(ByteReader& reader) {
  TRIBUTARY_ASSIGN(const auto size, reader.read<std::uint32_t>("length of a spec"));
  if (size > kSpecBytesMax) {
    return wrong("spec in a stored policy", fmt::format("at most {} bytes", kSpecBytesMax),
                 fmt::format("{}", size));
  }
  TRIBUTARY_ASSIGN(const ByteSpan bytes, reader.take(size, "spec"));
  return std::string(bytes.begin(), bytes.end());
}

// Calls `field` with every number, in the order of the format.
template <typename Policy, typename Field>
Status each_number(Policy& policy, Field&& field) {
  TRIBUTARY_TRY(field(policy.bucket_values_max));
  TRIBUTARY_TRY(field(policy.learning_rate));
  TRIBUTARY_TRY(field(policy.local_steps));
  TRIBUTARY_TRY(field(policy.agents_min));
  TRIBUTARY_TRY(field(policy.quorum_fraction));
  TRIBUTARY_TRY(field(policy.deadline_ms));
  TRIBUTARY_TRY(field(policy.preliminary_deadline_ms));
  TRIBUTARY_TRY(field(policy.retry_after_ms));
  TRIBUTARY_TRY(field(policy.catch_up_wait_ms));
  TRIBUTARY_TRY(field(policy.checkpoint_rounds));
  return field(policy.checkpoint_redo_models);
}

Status read_version_2(ByteReader& reader, RoundPolicy& policy) {
  TRIBUTARY_ASSIGN(policy.fraction, reader.read<double>("fraction"));
  TRIBUTARY_ASSIGN(const auto agents, reader.read<std::uint32_t>("number of agents"));
  if (agents > kAgentsMax) {
    return wrong("agents", fmt::format("at most {}", kAgentsMax), fmt::format("{}", agents));
  }
  for (std::uint32_t i = 0; i < agents; ++i) {
    TRIBUTARY_ASSIGN(std::string agent, read_text(reader));
    policy.agents.push_back(std::move(agent));
  }
  return {};
}

Status read_version_3(ByteReader& reader, RoundPolicy& policy) {
  TRIBUTARY_ASSIGN(const auto collective, reader.read<std::uint8_t>("collective"));
  policy.collective = static_cast<wire::Collective>(collective);
  TRIBUTARY_ASSIGN(policy.exchanges_per_round, reader.read<std::uint32_t>("exchanges per round"));
  return {};
}

Status read_version_4(ByteReader& reader, Planning& planning) {
  TRIBUTARY_ASSIGN(const auto goal, reader.read<std::uint8_t>("goal of the planning"));
  planning.goal = static_cast<wire::PlanGoal>(goal + 1);  // counted from 0 here
  TRIBUTARY_ASSIGN(planning.time_budget_s, reader.read<double>("time budget"));
  TRIBUTARY_ASSIGN(planning.bytes_per_day, reader.read<double>("bytes per day"));
  TRIBUTARY_ASSIGN(planning.gain_weight, reader.read<double>("weight of gain"));
  TRIBUTARY_ASSIGN(planning.gain_min, reader.read<double>("least gain"));
  return {};
}

Status write_planning(const Planning& planning, ByteWriter& writer) {
  TRIBUTARY_TRY(writer.write(static_cast<std::uint8_t>(static_cast<int>(planning.goal) - 1)));
  TRIBUTARY_TRY(writer.write(planning.time_budget_s));
  TRIBUTARY_TRY(writer.write(planning.bytes_per_day));
  TRIBUTARY_TRY(writer.write(planning.gain_weight));
  TRIBUTARY_TRY(writer.write(planning.gain_min));
  return writer.write(planning.exploring_share);
}

Status check(const Planning& planning) {
  if (planning.goal == wire::PlanGoal::unspecified || planning.goal > wire::PlanGoal::MAX) {
    return wrong("goal of the planning", "one that is known",
                 fmt::format("{}", static_cast<int>(planning.goal)));
  }
  TRIBUTARY_TRY(finite_from("time_budget_s", planning.time_budget_s, 0));
  TRIBUTARY_TRY(finite_from("bytes_per_day", planning.bytes_per_day, 0));
  TRIBUTARY_TRY(finite_from("gain_weight", planning.gain_weight, 0));
  TRIBUTARY_TRY(finite_from("gain_min", planning.gain_min, 0));
  if (!(planning.exploring_share >= 0 && planning.exploring_share <= kExploringShareMax)) {
    return wrong("exploring_share", fmt::format("from 0 to {}", kExploringShareMax),
                 fmt::format("{}", planning.exploring_share));
  }
  if (planning.goal == wire::PlanGoal::time_budget && planning.time_budget_s == 0) {
    return wrong("time_budget_s", "a time, where rounds are planned by it", "0");
  }
  if (planning.goal == wire::PlanGoal::byte_budget && planning.bytes_per_day == 0) {
    return wrong("bytes_per_day", "a number, where rounds are planned by it", "0");
  }
  return {};
}

Status write_policy(const RoundPolicy& policy, ByteWriter& writer) {
  TRIBUTARY_TRY(writer.write(kPolicyVersion));
  TRIBUTARY_TRY(write_text(writer, policy.codec));
  TRIBUTARY_TRY(writer.write(static_cast<std::uint32_t>(policy.codecs.size())));
  for (const std::string& codec : policy.codecs) TRIBUTARY_TRY(write_text(writer, codec));
  TRIBUTARY_TRY(each_number(policy, [&](auto number) { return writer.write(number); }));
  TRIBUTARY_TRY(writer.write(policy.fraction));
  TRIBUTARY_TRY(writer.write(static_cast<std::uint32_t>(policy.agents.size())));
  for (const std::string& agent : policy.agents) TRIBUTARY_TRY(write_text(writer, agent));
  TRIBUTARY_TRY(writer.write(static_cast<std::uint8_t>(policy.collective)));
  TRIBUTARY_TRY(writer.write(policy.exchanges_per_round));
  return write_planning(policy.planning, writer);
}

}  // namespace

Status check(const RoundPolicy& policy) {
  if (policy.codecs.size() > kCodecsMax) {
    return wrong("codecs", fmt::format("at most {}", kCodecsMax),
                 fmt::format("{}", policy.codecs.size()));
  }
  TRIBUTARY_TRY(finite_from("learning_rate", policy.learning_rate, 0));
  TRIBUTARY_TRY(finite_from("checkpoint_redo_models", policy.checkpoint_redo_models, 0));
  TRIBUTARY_TRY(finite_from("quorum_fraction", policy.quorum_fraction, 0));
  if (policy.quorum_fraction > 1) {
    return wrong("quorum_fraction", "at most 1", fmt::format("{}", policy.quorum_fraction));
  }
  if (!(policy.fraction > 0 && policy.fraction <= 1)) {
    return wrong("fraction", "above 0, at most 1", fmt::format("{}", policy.fraction));
  }
  if (policy.agents.size() > kAgentsMax) {
    return wrong("agents", fmt::format("at most {}", kAgentsMax),
                 fmt::format("{}", policy.agents.size()));
  }
  if (policy.collective == wire::Collective::unspecified ||
      policy.collective > wire::Collective::all_gather) {
    return wrong("collective", "star, or one among peers up to all_gather",
                 fmt::format("{}", static_cast<int>(policy.collective)));
  }
  if (policy.exchanges_per_round == 0 || policy.exchanges_per_round > wire::kExchangesPerRoundMax) {
    return wrong("exchanges_per_round", fmt::format("from 1 to {}", wire::kExchangesPerRoundMax),
                 fmt::format("{}", policy.exchanges_per_round));
  }
  TRIBUTARY_TRY(check(policy.planning));
  if (policy.agents_min == 0) return wrong("agents_min", "at least 1", "0");
  if (policy.deadline_ms == 0) return wrong("deadline_ms", "a time", "0");
  if (policy.checkpoint_rounds == 0) return wrong("checkpoint_rounds", "at least 1", "0");
  return {};
}

Bytes encode(const RoundPolicy& policy) {
  Bytes bytes;
  ByteWriter writer(bytes, kPolicyBytesMax);
  ignore_error(write_policy(policy, writer));  // a checked policy is far below the cap
  return bytes;
}

Result<RoundPolicy> decode_policy(ByteSpan bytes) {
  ByteReader reader(bytes);
  TRIBUTARY_ASSIGN(const auto version, reader.read<std::uint32_t>("version"));
  if (version == 0 || version > kPolicyVersion) {
    return wrong("version of a stored policy", fmt::format("1 to {}", kPolicyVersion),
                 fmt::format("{}", version));
  }
  RoundPolicy policy;
  TRIBUTARY_ASSIGN(policy.codec, read_text(reader));
  TRIBUTARY_ASSIGN(const auto codecs, reader.read<std::uint32_t>("number of codecs"));
  if (codecs > kCodecsMax) {
    return wrong("codecs", fmt::format("at most {}", kCodecsMax), fmt::format("{}", codecs));
  }
  for (std::uint32_t i = 0; i < codecs; ++i) {
    TRIBUTARY_ASSIGN(std::string codec, read_text(reader));
    policy.codecs.push_back(std::move(codec));
  }
  TRIBUTARY_TRY(each_number(policy, [&](auto& number) -> Status {
    TRIBUTARY_ASSIGN(number, reader.read<std::decay_t<decltype(number)>>("policy"));
    return {};
  }));
  if (version >= 2) TRIBUTARY_TRY(read_version_2(reader, policy));
  if (version >= 3) TRIBUTARY_TRY(read_version_3(reader, policy));
  if (version >= 4) TRIBUTARY_TRY(read_version_4(reader, policy.planning));
  if (version >= 5) {
    TRIBUTARY_ASSIGN(policy.planning.exploring_share, reader.read<double>("share of exploring"));
  }
  TRIBUTARY_TRY(reader.expect_end("policy"));
  TRIBUTARY_TRY(check(policy));
  return policy;
}

}  // namespace tributary
