#include "core/round/common/machine/policy.h"

#include <fmt/format.h>

#include <cmath>

#include "core/codec/thc/network/network_sums.h"
#include "core/update/layer_groups.h"
#include "schemas/limits.h"
#include "schemas/walk.h"

namespace tributary {
namespace {

// Old formats begin with their version, 1 to 5. The current one begins with its size, which is
// larger, so the first four bytes tell them apart.
constexpr std::uint32_t kOldVersionMax = 5;
constexpr std::uint32_t kNoOldVersion = kOldVersionMax + 1;  // of a field that no old format has
// Limits for stored policies. A damaged journal must not make the reader allocate without bound.
constexpr std::size_t kPolicyBytesMax = 2u << 20;
constexpr std::size_t kSizeBytes = sizeof(flatbuffers::uoffset_t);
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

Status corrupt(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "stored policy",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = {}});
}

// Calls field(version, member, field of the table) for every setting, in the order of the old
// formats. `version` is the first old format that contains it.
template <typename Policy, typename Table, typename Field>
Status each_field(Policy& policy, Table& table, Field&& field) {
  TRIBUTARY_TRY(field(1, policy.codec, table.codec));
  TRIBUTARY_TRY(field(1, policy.codecs, table.codecs));
  TRIBUTARY_TRY(field(1, policy.bucket_values_max, table.bucket_values_max));
  TRIBUTARY_TRY(field(1, policy.learning_rate, table.learning_rate));
  TRIBUTARY_TRY(field(1, policy.local_steps, table.local_steps));
  TRIBUTARY_TRY(field(1, policy.agents_min, table.agents_min));
  TRIBUTARY_TRY(field(1, policy.quorum_fraction, table.quorum_fraction));
  TRIBUTARY_TRY(field(1, policy.deadline_ms, table.deadline_ms));
  TRIBUTARY_TRY(field(1, policy.preliminary_deadline_ms, table.preliminary_deadline_ms));
  TRIBUTARY_TRY(field(1, policy.retry_after_ms, table.retry_after_ms));
  TRIBUTARY_TRY(field(1, policy.catch_up_wait_ms, table.catch_up_wait_ms));
  TRIBUTARY_TRY(field(1, policy.checkpoint_rounds, table.checkpoint_rounds));
  TRIBUTARY_TRY(field(1, policy.checkpoint_redo_models, table.checkpoint_redo_models));
  TRIBUTARY_TRY(field(2, policy.fraction, table.fraction));
  TRIBUTARY_TRY(field(2, policy.agents, table.agents));
  TRIBUTARY_TRY(field(3, policy.collective, table.collective));
  TRIBUTARY_TRY(field(3, policy.exchanges_per_round, table.exchanges_per_round));
  auto& planning = policy.planning;
  TRIBUTARY_TRY(field(4, planning.goal, table.goal));
  TRIBUTARY_TRY(field(4, planning.time_budget_s, table.time_budget_s));
  TRIBUTARY_TRY(field(4, planning.bytes_per_day, table.bytes_per_day));
  TRIBUTARY_TRY(field(4, planning.gain_weight, table.gain_weight));
  TRIBUTARY_TRY(field(4, planning.gain_min, table.gain_min));
  TRIBUTARY_TRY(field(5, planning.exploring_share, table.exploring_share));
  TRIBUTARY_TRY(field(kNoOldVersion, policy.layer_values_max, table.layer_values_max));
  TRIBUTARY_TRY(field(kNoOldVersion, policy.grace_ms, table.grace_ms));
  TRIBUTARY_TRY(field(kNoOldVersion, policy.grace_factor, table.grace_factor));
  TRIBUTARY_TRY(field(kNoOldVersion, policy.weight_cap, table.weight_cap));
  TRIBUTARY_TRY(field(kNoOldVersion, policy.fusion, table.fusion));
  TRIBUTARY_TRY(field(kNoOldVersion, planning.codecs, table.plan_codecs));
  return field(kNoOldVersion, planning.collectives, table.plan_collectives);
}

// Reads one field of an old format. Numbers have their own size, lengths and counts of texts and
// lists take four bytes, enums one byte.
template <typename Number>
Status read_old(ByteReader& reader, Number& value) {
  TRIBUTARY_ASSIGN(value, reader.read<Number>("number"));
  return {};
}
Status read_old(ByteReader& reader, wire::Collective& value) {
  TRIBUTARY_ASSIGN(const auto number, reader.read<std::uint8_t>("collective"));
  value = static_cast<wire::Collective>(number);
  return {};
}
// The old formats numbered goals from 0 (fixed), the schema from 1.
Status read_old(ByteReader& reader, wire::PlanGoal& value) {
  TRIBUTARY_ASSIGN(const auto number, reader.read<std::uint8_t>("goal of the planning"));
  value = static_cast<wire::PlanGoal>(number + 1);
  return {};
}
Status read_old(ByteReader& reader, std::string& value) {
  TRIBUTARY_ASSIGN(const auto size, reader.read<std::uint32_t>("length of a text"));
  if (size > kSpecBytesMax) {
    return corrupt(fmt::format("texts of at most {} bytes", kSpecBytesMax),
                   fmt::format("{}", size));
  }
  TRIBUTARY_ASSIGN(const ByteSpan bytes, reader.take(size, "text"));
  value = as_text(bytes);
  return {};
}
Status read_old(ByteReader& reader, std::vector<std::string>& values) {
  TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint32_t>("length of a list"));
  if (count > kAgentsMax) {
    return corrupt(fmt::format("lists of at most {}", kAgentsMax), fmt::format("{}", count));
  }
  for (std::uint32_t i = 0; i < count; ++i) TRIBUTARY_TRY(read_old(reader, values.emplace_back()));
  return {};
}

// No old format has such a list.
Status read_old(ByteReader& /*reader*/, std::vector<wire::Collective>& /*values*/) { return {}; }

Status read_old(ByteSpan bytes, RoundPolicy& policy) {
  ByteReader reader(bytes);
  TRIBUTARY_ASSIGN(const auto version, reader.read<std::uint32_t>("version"));
  wire::PolicyT none;
  policy.grace_ms = none.grace_ms;  // rounds of that time waited for their deadline
  TRIBUTARY_TRY(each_field(policy, none, [&](std::uint32_t since, auto& value, auto&) {
    return version < since ? Status() : read_old(reader, value);
  }));
  return reader.expect_end("policy");
}

// Bounds all texts and lists before they are copied. Many fields of a damaged table may refer to
// one long text, so a small input could otherwise expand without limit.
class PolicyCaps {
 public:
  template <typename Number>
  Status number(const wire::Place& /*place*/, Number /*value*/) {
    return {};
  }
  Status text(const wire::Place& place, std::string_view text) {
    if (text.size() <= kSpecBytesMax) return {};
    return corrupt(fmt::format("{} of at most {} bytes", place.text(), kSpecBytesMax),
                   fmt::format("{}", text.size()));
  }
  Status list(const wire::Place& place, ByteSpan bytes, std::size_t /*alignment*/) {
    if (bytes.size() / sizeof(flatbuffers::uoffset_t) <= kAgentsMax) return {};
    return corrupt(fmt::format("{} of at most {}", place.text(), kAgentsMax), "more");
  }
};

// Order of the checks: size, FlatBuffers verification, caps of texts and lists, and only then
// UnPackTo(), which allocates.
Status read_table(ByteSpan bytes, RoundPolicy& policy) {
  if (bytes.size() > kPolicyBytesMax) {
    return corrupt(fmt::format("at most {} bytes", kPolicyBytesMax),
                   fmt::format("{}", bytes.size()));
  }
  // FlatBuffers requires aligned tables; the journal's bytes may lie anywhere.
  const Bytes aligned(bytes.begin(), bytes.end());
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  const bool whole = aligned.size() > kSizeBytes &&
                     flatbuffers::GetPrefixedSize(aligned.data()) == aligned.size() - kSizeBytes;
  if (!whole || !wire::VerifySizePrefixedPolicyBuffer(verifier)) {
    return corrupt("a policy's table, or a version of 1 to 5", "neither");
  }
  const wire::Policy& stored = *wire::GetSizePrefixedPolicy(aligned.data());
  PolicyCaps caps;
  TRIBUTARY_TRY(wire::walk(stored, {.name = "Policy"}, caps));
  wire::PolicyT table;
  stored.UnPackTo(&table);
  return each_field(policy, table, [](std::uint32_t, auto& value, auto& field) -> Status {
    value = std::move(field);
    return {};
  });
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
  if (planning.codecs.size() > kCodecsMax) {
    return wrong("plan_codecs", fmt::format("at most {}", kCodecsMax),
                 fmt::format("{}", planning.codecs.size()));
  }
  for (const wire::Collective kind : planning.collectives) {
    if (kind > wire::Collective::unspecified && kind <= wire::Collective::MAX) continue;
    return wrong("plan_collectives", "collectives that are known",
                 fmt::format("{}", static_cast<int>(kind)));
  }
  if (planning.goal == wire::PlanGoal::time_budget && planning.time_budget_s == 0) {
    return wrong("time_budget_s", "a time, where rounds are planned by it", "0");
  }
  if (planning.goal == wire::PlanGoal::byte_budget && planning.bytes_per_day == 0) {
    return wrong("bytes_per_day", "a number, where rounds are planned by it", "0");
  }
  return {};
}

// An aggregator in the network adds levels of 4 bits, and every exchange needs its result before
// the next one.
Status check_collective(const RoundPolicy& policy) {
  if (policy.collective == wire::Collective::in_network) {
    if (policy.exchanges_per_round > 1) {
      return wrong("exchanges_per_round", "1 with collective = \"in_network\"",
                   fmt::format("{}", policy.exchanges_per_round));
    }
    if (policy.codecs.size() > 1) {
      return wrong("codecs", "one codec with collective = \"in_network\"",
                   fmt::format("{}", policy.codecs.size()));
    }
    return thc::check_network_codec(policy.codecs.empty() ? policy.codec : policy.codecs[0]);
  }
  if (policy.collective != wire::Collective::unspecified &&
      policy.collective <= wire::Collective::all_gather) {
    return {};
  }
  return wrong("collective", "star, in_network, or one among peers up to all_gather",
               fmt::format("{}", static_cast<int>(policy.collective)));
}

}  // namespace

Status check(const RoundPolicy& policy) {
  if (policy.codecs.size() > kCodecsMax) {
    return wrong("codecs", fmt::format("at most {}", kCodecsMax),
                 fmt::format("{}", policy.codecs.size()));
  }
  if (policy.layer_values_max > wire::kBucketValuesMax) {
    return wrong("layer_values_max", fmt::format("at most {} values", wire::kBucketValuesMax),
                 fmt::format("{}", policy.layer_values_max));
  }
  TRIBUTARY_TRY(parse_layer_grouping(policy.fusion).status());
  TRIBUTARY_TRY(finite_from("learning_rate", policy.learning_rate, 0));
  TRIBUTARY_TRY(finite_from("checkpoint_redo_models", policy.checkpoint_redo_models, 0));
  TRIBUTARY_TRY(finite_from("quorum_fraction", policy.quorum_fraction, 0));
  if (policy.quorum_fraction > 1) {
    return wrong("quorum_fraction", "at most 1", fmt::format("{}", policy.quorum_fraction));
  }
  TRIBUTARY_TRY(finite_from("grace_factor", policy.grace_factor, 0));
  if (!(policy.fraction > 0 && policy.fraction <= 1)) {
    return wrong("fraction", "above 0, at most 1", fmt::format("{}", policy.fraction));
  }
  if (!(policy.weight_cap >= 1) || !std::isfinite(policy.weight_cap)) {
    return wrong("weight_cap", "a number from 1", fmt::format("{}", policy.weight_cap));
  }
  if (policy.agents.size() > kAgentsMax) {
    return wrong("agents", fmt::format("at most {}", kAgentsMax),
                 fmt::format("{}", policy.agents.size()));
  }
  TRIBUTARY_TRY(check_collective(policy));
  // A RoundPlan has all buckets of the model once per exchange, so this bounds its size.
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
  wire::PolicyT table;
  // Copying into the table cannot fail: the function below always returns success.
  ignore_error(each_field(policy, table, [](std::uint32_t, const auto& value, auto& field) {
    field = value;
    return Status();
  }));
  flatbuffers::FlatBufferBuilder builder;
  wire::FinishSizePrefixedPolicyBuffer(builder, wire::Policy::Pack(builder, &table));
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

Result<RoundPolicy> decode_policy(ByteSpan bytes) {
  ByteReader reader(bytes);
  TRIBUTARY_ASSIGN(const auto marker, reader.read<std::uint32_t>("version"));
  const bool old = marker >= 1 && marker <= kOldVersionMax;
  RoundPolicy policy;
  TRIBUTARY_TRY(old ? read_old(bytes, policy) : read_table(bytes, policy));
  TRIBUTARY_TRY(check(policy));
  return policy;
}

}  // namespace tributary
