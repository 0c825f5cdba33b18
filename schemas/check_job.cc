// The rules of job.fbs and plan.fbs.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "schemas/checks.h"
#include "schemas/limits.h"

namespace tributary::wire {
namespace {

Status check_layer(const Layer& layer) {
  TRIBUTARY_TRY(given("name", layer.name()));
  TRIBUTARY_TRY(given("kind", layer.kind()));
  TRIBUTARY_TRY(at_most("values", layer.values(), kModelValuesMax));
  TRIBUTARY_TRY(at_most("shape", layer.shape(), kDimensionsMax));
  // The division before each multiplication prevents an overflow by a large shape.
  std::uint64_t product = 1;
  for (std::uint32_t i = 0; i < size_of(layer.shape()); ++i) {
    const std::uint64_t dimension = layer.shape()->Get(i);
    if (dimension != 0 && product > kModelValuesMax / dimension) {
      return over_cap("shape", kModelValuesMax, layer.values());
    }
    product *= dimension;
  }
  return equal("values", layer.values(), product);
}

Status check_layer_map(const LayerMap& map) {
  if (size_of(map.layers()) == 0) return broken("layers", "one or more", "none");
  TRIBUTARY_TRY(each("layers", map.layers(), kLayersMax, check_layer));
  std::uint64_t values = 0;  // cannot overflow: both factors are capped
  for (const Layer* layer : *map.layers()) values += layer->values();
  return at_most("values of all layers", values, kModelValuesMax);
}

Status check_model(const Model& model) {
  TRIBUTARY_TRY(given("kind", model.kind()));
  TRIBUTARY_TRY(given("name", model.name()));
  // A TorchScript model needs a file; a built-in model needs none.
  if (model.kind() == ModelKind::torchscript) TRIBUTARY_TRY(given("artifact", model.artifact()));
  if (!model.artifact()) return {};
  TRIBUTARY_TRY(given("artifact.name", model.artifact()->name()));
  TRIBUTARY_TRY(at_most("artifact.bytes", model.artifact()->bytes(), kTransferBytesMax));
  if (size_of(model.artifact()->content()) == 0) return {};
  TRIBUTARY_TRY(at_most("artifact.content", model.artifact()->content(), kArtifactContentMax));
  // A file that is included must be complete.
  return equal("artifact.content", model.artifact()->bytes(), model.artifact()->content()->size());
}

Status check_member(const Member& member) {
  TRIBUTARY_TRY(agent_id("agent_id", member.agent_id()));
  if (member.public_key()) {
    TRIBUTARY_TRY(equal("public_key", member.public_key()->size(), kPublicKeyBytes));
  }
  return each("endpoints", member.endpoints(), kListItemsMax,
              [](const Endpoint& endpoint) { return given("address", endpoint.address()); });
}

Status check_exchange(const Exchange& exchange, std::uint32_t agents) {
  TRIBUTARY_TRY(given("codec", exchange.codec()));
  TRIBUTARY_TRY(given("aggregation", exchange.aggregation()));
  TRIBUTARY_TRY(given("collective", exchange.collective()));
  TRIBUTARY_TRY(in_range("stages", size_of(exchange.stages()), 1, kStagesMax));
  TRIBUTARY_TRY(each("stages", exchange.stages(), kStagesMax,
                     [](const Stage& stage) { return given("combine", stage.combine()); }));
  // The order may list fewer members than the epoch has, if not all of them participate.
  TRIBUTARY_TRY(at_most("order", exchange.order(), agents));
  for (std::uint32_t i = 0; i < size_of(exchange.order()); ++i) {
    TRIBUTARY_TRY(below("order", exchange.order()->Get(i), agents));
  }
  TRIBUTARY_TRY(below("root", exchange.root(), agents));
  TRIBUTARY_TRY(in_range("segments", exchange.segments(), 1, kSegmentsMax));
  TRIBUTARY_TRY(fraction("ratio", exchange.ratio()));
  // The ratios of all members appear only in the journal.
  if (size_of(exchange.ratios()) > 0) {
    TRIBUTARY_TRY(equal("ratios", exchange.ratios()->size(), agents));
    for (const double ratio : *exchange.ratios()) {
      TRIBUTARY_TRY(positive("ratios", ratio));
      TRIBUTARY_TRY(fraction("ratios", ratio));
    }
  }
  TRIBUTARY_TRY(at_most("layer_values", exchange.layer_values(), kBucketValuesMax));
  if (exchange.sums()) {
    TRIBUTARY_TRY(given("aggregator", exchange.aggregator()));
    TRIBUTARY_TRY(check(*exchange.sums()).at("sums"));
  }
  return in_range("payload_bytes", exchange.payload_bytes(), 1, kPayloadBytesMax);
}

// Buckets must ascend without overlap, so that each value belongs to at most one.
Status check_buckets(const Plan& plan) {
  std::uint64_t free_from = 0;
  return each("buckets", plan.buckets(), kBucketsMax, [&](const Bucket& bucket) {
    TRIBUTARY_TRY(in_range("first_value", bucket.first_value(), free_from, kModelValuesMax));
    TRIBUTARY_TRY(at_most("values", bucket.values(), kBucketValuesMax));
    free_from = bucket.first_value() + bucket.values();
    return below("exchange", bucket.exchange(), size_of(plan.exchanges()));
  });
}

// Marks the group's buckets as taken. An error if one of them is already taken.
Status take_group(const Range& group, std::vector<bool>& taken) {
  TRIBUTARY_TRY(in_range("count", group.count(), 1, taken.size()));
  TRIBUTARY_TRY(at_most("first", group.first(), taken.size() - group.count()));
  for (std::uint32_t bucket = group.first(); bucket < group.first() + group.count(); ++bucket) {
    if (taken[bucket]) return broken("bucket", "it in one group", fmt::format("{} in two", bucket));
    taken[bucket] = true;
  }
  return {};
}

// If buckets are grouped, each must be in exactly one group.
Status check_groups(const Plan& plan) {
  if (size_of(plan.groups()) == 0) return {};
  std::vector<bool> taken(size_of(plan.buckets()), false);
  TRIBUTARY_TRY(each("groups", plan.groups(), taken.size(),
                     [&](const Range& group) { return take_group(group, taken); }));
  const auto count = std::count(taken.begin(), taken.end(), true);
  return equal("buckets in groups", as_unsigned(count), taken.size());
}

Status check_trials(const Plan& plan) {
  TRIBUTARY_TRY(at_most("trials", plan.trials(), kTrialsMax));
  TRIBUTARY_TRY(not_negative("trial_s", plan.trial_s()));
  if (plan.trial_s() <= kTrialSecondsMax) return {};
  return broken("trial_s", fmt::format("at most {}", kTrialSecondsMax),
                fmt::format("{}", plan.trial_s()));
}

Status check_observation(const Observation& observation) {
  TRIBUTARY_TRY(given("measure", observation.measure()));
  return check(*observation.measure());
}

Status check_alternative(const Alternative& alternative) {
  TRIBUTARY_TRY(given("codec", alternative.codec()));
  TRIBUTARY_TRY(given("collective", alternative.collective()));
  // The gain and the times of an alternative are not checked, because no code acts on them.
  return fraction("ratio", alternative.ratio());
}

Status check_reason(const Reason& reason) {
  TRIBUTARY_TRY(given("trigger", reason.trigger()));
  TRIBUTARY_TRY(each("observations", reason.observations(), kListItemsMax, check_observation));
  return each("alternatives", reason.alternatives(), kListItemsMax, check_alternative);
}

}  // namespace

// A job that is stored or sent must have everything that an agent needs to build its model.
Status check(const Job& job) {
  TRIBUTARY_TRY(given("job", job.job()));
  TRIBUTARY_TRY(given("revision", job.revision()));
  TRIBUTARY_TRY(given("name", job.name()));
  TRIBUTARY_TRY(given("state", job.state()));
  TRIBUTARY_TRY(given("mode", job.mode()));
  TRIBUTARY_TRY(given("model", job.model()));
  TRIBUTARY_TRY(check_model(*job.model()).at("model"));
  TRIBUTARY_TRY(given("layer_map", job.layer_map()));
  TRIBUTARY_TRY(check_layer_map(*job.layer_map()).at("layer_map"));
  TRIBUTARY_TRY(given("optimizer", job.optimizer()));
  TRIBUTARY_TRY(given("optimizer.kind", job.optimizer()->kind()));
  TRIBUTARY_TRY(given("weighting", job.weighting()));
  TRIBUTARY_TRY(not_negative("clip_value", job.clip_value()));
  TRIBUTARY_TRY(not_negative("norm_max", job.norm_max()));
  return not_negative("clip_norm", job.clip_norm());
}

Status check(const JobChange& change) {
  TRIBUTARY_TRY(given("job", change.job()));
  TRIBUTARY_TRY(given("revision", change.revision()));
  TRIBUTARY_TRY(given("change", change.change()));
  return given("state", change.state());
}

Status check(const Membership& membership) {
  TRIBUTARY_TRY(given("job", membership.job()));
  TRIBUTARY_TRY(given("epoch", membership.epoch()));
  TRIBUTARY_TRY(given("first_round", membership.first_round()));
  TRIBUTARY_TRY(in_range("agents", membership.agents(), 1, kMembersMax));
  TRIBUTARY_TRY(below("agent_index", membership.agent_index(), membership.agents()));
  TRIBUTARY_TRY(positive("weight_sum", membership.weight_sum()));
  // Members are listed only if agents exchange among themselves; the list must then be complete.
  if (size_of(membership.members()) == 0) return {};
  TRIBUTARY_TRY(equal("members", membership.members()->size(), membership.agents()));
  TRIBUTARY_TRY(given("peer_session", membership.peer_session()));
  return each("members", membership.members(), kMembersMax, check_member);
}

Status check(const Plan& plan) {
  TRIBUTARY_TRY(round_id(plan.id()));
  TRIBUTARY_TRY(given("purpose", plan.purpose()));
  // A round always starts from the result of the round before it.
  TRIBUTARY_TRY(equal("model_version", plan.model_version(), plan.id()->round() - 1));
  TRIBUTARY_TRY(in_range("agents", plan.agents(), 1, kMembersMax));
  if (size_of(plan.participants()) > 0) {
    TRIBUTARY_TRY(bitmap("participants", plan.participants(), plan.agents()));
  }
  TRIBUTARY_TRY(not_negative("weight", plan.weight()));
  TRIBUTARY_TRY(positive("weight_sum", plan.weight_sum()));
  TRIBUTARY_TRY(given("divisor", plan.divisor()));
  TRIBUTARY_TRY(in_range("quorum", plan.quorum(), 1, plan.agents()));
  TRIBUTARY_TRY(given("deadline_ms", plan.deadline_ms()));
  TRIBUTARY_TRY(not_negative("learning_rate", plan.learning_rate()));
  TRIBUTARY_TRY(each("exchanges", plan.exchanges(), kExchangesMax, [&](const Exchange& exchange) {
    return check_exchange(exchange, plan.agents());
  }));
  TRIBUTARY_TRY(check_buckets(plan));
  TRIBUTARY_TRY(
      in_range("exchanges_per_round", plan.exchanges_per_round(), 1, kExchangesPerRoundMax));
  // Buckets are numbered across all exchanges of a round.
  TRIBUTARY_TRY(at_most("buckets of all exchanges",
                        std::uint64_t{size_of(plan.buckets())} * plan.exchanges_per_round(),
                        kBucketsMax));
  TRIBUTARY_TRY(check_groups(plan));
  TRIBUTARY_TRY(check_trials(plan));
  return plan.reason() ? check_reason(*plan.reason()).at("reason") : Status();
}

}  // namespace tributary::wire
