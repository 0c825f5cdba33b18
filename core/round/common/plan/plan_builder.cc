#include "core/round/common/plan/plan_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <ranges>

#include "core/update/buckets.h"
#include "core/update/layer_groups.h"
#include "schemas/limits.h"

namespace tributary {
namespace {

// Limits for a bucket in an exchange among peers, in values.
constexpr std::uint64_t kPeerBucketValuesMax = std::uint64_t{1} << 19;
constexpr std::uint64_t kPeerBucketValuesMin = std::uint64_t{1} << 12;
// Number of buckets that each member owns in turn, so that one can be sent while the next one is
// summed.
constexpr std::uint64_t kPeerBucketsEach = 4;

// Limits of a plan's buckets, in values.
struct BucketBounds {
  std::uint64_t values = 0;
  // The same of a bucket that fusion forms. Among peers they are equal: one large bucket would pass
  // from member to member, and most links would be idle.
  std::uint64_t group_values = 0;
  std::uint32_t layer_values = 0;  // for codecs of whole layers
};

Result<std::unique_ptr<wire::ExchangeT>> exchange_by(const std::string& spec,
                                                     const PlanRequest& request,
                                                     const BucketBounds& bounds, CodecCache& cache,
                                                     bool exact = false) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<const Codec> codec, cache.get(spec));
  auto exchange = std::make_unique<wire::ExchangeT>();
  exchange->codec = codec->spec();
  exchange->aggregation =
      static_cast<wire::Aggregation>(static_cast<int>(codec->aggregation()) + 1);
  for (const Stage& stage : codec->stages()) {
    auto made = std::make_unique<wire::StageT>();
    made->name = std::string(stage.name);
    made->combine = static_cast<wire::Combine>(static_cast<int>(stage.combine) + 1);
    exchange->stages.push_back(std::move(made));
  }
  exchange->collective = request.collective;
  exchange->fallback = wire::Collective::star;
  exchange->ratio = 1;
  if (codec->own_share()) exchange->ratios = request.ratios;
  if (codec->whole_layers()) exchange->layer_values = bounds.layer_values;
  // Limits the parts of the payloads, not the payloads.
  exchange->payload_bytes = request.payload_bytes;
  const bool summed = request.collective == wire::Collective::in_network && !exact;
  if (summed) {
    exchange->aggregator = request.aggregator;
    exchange->sums = std::make_unique<wire::SumsInNetworkT>(request.sums);
  }
  return exchange;
}

bool is_exact(const JobModel& job, std::size_t layer) {
  return job.wire().layer_map()->layers()->Get(static_cast<std::uint32_t>(layer))->exact();
}

// A maximal run of layers that are all exact, or all not exact.
struct LayerSequence {
  std::vector<LayerShape> layers;
  std::uint64_t first_value = 0;
  bool exact = false;
};

std::vector<LayerSequence> sequences_of(const JobModel& job) {
  std::vector<LayerSequence> sequences;
  for (std::uint32_t i = 0; i < job.layers().layers().size(); ++i) {
    const Layer& layer = job.layers().layers()[i];
    const bool exact = is_exact(job, i);
    if (sequences.empty() || sequences.back().exact != exact) {
      sequences.push_back({.layers = {}, .first_value = layer.offset, .exact = exact});
    }
    sequences.back().layers.push_back({.name = layer.name, .shape = layer.shape});
  }
  return sequences;
}

// The result is the same for an exchange among peers and for the star that replaces it, because
// codecs keep memory per bucket.
std::uint64_t bucket_values_max(const JobModel& job, const RoundPolicy& policy,
                                const PlanRequest& request) {
  if (request.bucket_values > 0) {
    const bool star = request.collective == wire::Collective::star;
    return star ? request.bucket_values : std::min(request.bucket_values, kPeerBucketValuesMax);
  }
  if (policy.collective == wire::Collective::star) return policy.bucket_values_max;
  const std::uint64_t buckets =
      kPeerBucketsEach * std::max<std::uint64_t>(request.weights.size(), 1);
  const std::uint64_t fair =
      std::clamp(job.values() / buckets + 1, kPeerBucketValuesMin, kPeerBucketValuesMax);
  return std::min(policy.bucket_values_max, fair);
}

BucketBounds bounds_of(const JobModel& job, const RoundPolicy& policy, const PlanRequest& request) {
  const std::uint64_t values = bucket_values_max(job, policy, request);
  const std::uint64_t layer = std::max(values, policy.layer_values_max);
  return {.values = values,
          .group_values = policy.collective == wire::Collective::star
                              ? std::uint64_t{wire::kBucketValuesMax}
                              : values,
          .layer_values =
              static_cast<std::uint32_t>(std::min<std::uint64_t>(layer, wire::kBucketValuesMax))};
}

// The groups of the layers that are not exact, in the order of the vector. Sequences take theirs
// from the front. A group with an exact sequence in its middle is divided there.
class FusedGroups {
 public:
  FusedGroups(const JobModel& job, const LayerGrouping& grouping, const PlanRequest& request)
      : fused_(grouping.rule != LayerGrouping::Rule::none) {
    if (!fused_) return;
    std::vector<std::uint32_t> groups = group_layers(grouping, fused_layers(job));
    if (grouping.rule == LayerGrouping::Rule::optimal) {
      groups = request.groups;
      if (groups.empty()) {
        groups = group_layers({.rule = LayerGrouping::Rule::layerwise}, fused_layers(job));
      }
    }
    count_ = groups.size();
    groups_.assign(groups.rbegin(), groups.rend());
  }

  bool fused() const { return fused_; }
  std::size_t count() const { return count_; }

  // The groups of the next `layers` layers, the last layers first.
  std::vector<std::uint32_t> take(std::size_t layers) {
    std::vector<std::uint32_t> taken;
    while (layers > 0 && !groups_.empty()) {
      std::uint32_t& next = groups_.front();
      const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(next, layers));
      // An empty group stays, so that group_buckets() reports it.
      taken.push_back(part);
      layers -= part;
      next -= part;
      if (next == 0) groups_.pop_front();
    }
    std::ranges::reverse(taken);
    return taken;
  }
  bool all_taken() const { return groups_.empty(); }

 private:
  const bool fused_;
  std::size_t count_ = 0;
  std::deque<std::uint32_t> groups_;
};

Status too_many_groups(std::size_t layers, std::size_t groups) {
  return Status(StatusCode::resource_exhausted,
                {.what = "buckets by fusion",
                 .expected = fmt::format("at most {} buckets in a round", wire::kBucketsMax),
                 .got = fmt::format("{} groups of {} layers", groups, layers),
                 .remedy = "take fusion = \"even:N\" with a smaller N"});
}

// Exact layers are divided by bucket_values_max.
std::uint64_t fused_values_bound(const JobModel& job, const RoundPolicy& policy) {
  const std::uint64_t most = std::min<std::uint64_t>(wire::kBucketValuesMax, job.values());
  const Result<LayerGrouping> grouping = parse_layer_grouping(policy.fusion);
  if (!grouping.ok() || grouping->rule != LayerGrouping::Rule::layerwise) return most;
  std::uint64_t layer_max = std::min(policy.bucket_values_max, job.values());
  for (const Layer& layer : job.layers().layers()) layer_max = std::max(layer_max, layer.count);
  return std::min(most, layer_max);
}

std::vector<std::string> specs_of(const RoundPolicy& policy) {
  return policy.codecs.empty() ? std::vector<std::string>{policy.codec} : policy.codecs;
}

// The codecs of a round. For sums in the network their width follows from the number of agents,
// also in the star that stands in, so that both have the same results.
Result<std::vector<std::string>> codecs_of(const RoundPolicy& policy, const PlanRequest& request) {
  std::vector<std::string> specs = specs_of(policy);
  const std::uint32_t agents = request.participants.count();
  if (policy.collective != wire::Collective::in_network || agents > wire::kSummedAgentsMax) {
    return specs;
  }
  for (std::string& spec : specs) {
    TRIBUTARY_ASSIGN(spec, thc::network_codec(spec, agents));
  }
  return specs;
}

// Buckets use the policy's codecs in rotation. Buckets of exact layers use fp32, as the last
// exchange of the plan. If one of the codecs needs whole layers, all buckets but the exact ones
// hold them, because a bucket's codec follows from its number.
Status add_buckets(const JobModel& job, const PlanRequest& request, const BucketBounds& bounds,
                   FusedGroups& groups, CodecCache& cache, wire::PlanT& plan) {
  const std::size_t codecs = plan.exchanges.size();
  std::uint64_t layer_values = 0;
  for (const auto& exchange : plan.exchanges) {
    layer_values = std::max<std::uint64_t>(layer_values, exchange->layer_values);
  }
  std::size_t turn = 0;
  for (LayerSequence& sequence : sequences_of(job)) {
    if (sequence.exact && plan.exchanges.size() == codecs) {
      TRIBUTARY_ASSIGN(auto exchange, exchange_by("fp32", request, bounds, cache, true));
      plan.exchanges.push_back(std::move(exchange));
    }
    TRIBUTARY_ASSIGN(const LayerMap map, LayerMap::make(std::move(sequence.layers)));
    const bool fused = groups.fused() && !sequence.exact;
    const BucketOptions options = {.values_max = fused ? bounds.group_values : bounds.values,
                                   .layer_values_max = sequence.exact ? 0 : layer_values};
    TRIBUTARY_ASSIGN(const std::vector<Bucket> buckets,
                     fused ? group_buckets(map, groups.take(map.layers().size()), options)
                           : plan_buckets(map, options));
    for (const Bucket& bucket : buckets) {
      auto made = std::make_unique<wire::BucketT>();
      made->first_value = sequence.first_value + bucket.offset;
      made->values = static_cast<std::uint32_t>(bucket.count);
      made->exchange = static_cast<std::uint32_t>(sequence.exact ? codecs : turn++ % codecs);
      plan.buckets.push_back(std::move(made));
    }
  }
  if (!groups.all_taken()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "groups of layers",
                   .expected = fmt::format("the {} layers that are not exact", fused_layers(job)),
                   .got = "more",
                   .remedy = {}});
  }
  if (groups.fused() && plan.buckets.size() > wire::kBucketsMax) {
    return too_many_groups(job.layers().layers().size(), groups.count());
  }
  return {};
}

// The sentence names what the round does, for the journal and for observers.
std::string with_fusion(std::string reason, const RoundPolicy& policy, const JobModel& job,
                        const FusedGroups& groups) {
  if (!groups.fused()) return reason;
  return fmt::format("{}; fusion = \"{}\": {} {} of {} layers", reason, policy.fusion,
                     groups.count(), groups.count() == 1 ? "group" : "groups", fused_layers(job));
}

void add_participants(const RoundPolicy& policy, const PlanRequest& request, wire::PlanT& plan) {
  plan.agents = static_cast<std::uint32_t>(request.participants.size());
  const std::uint32_t participants = request.participants.count();
  // An empty bitmap means that all members participate, which saves bytes in the usual case.
  if (participants < plan.agents) plan.participants = request.participants.bytes();
  for (std::uint32_t i = 0; i < plan.agents; ++i) {
    if (request.participants.test(i)) plan.weight_sum += request.weights[i];
  }
  plan.quorum = quorum_of(policy, participants);
}

}  // namespace

// A quorum above the number of participants could never be reached.
std::uint32_t quorum_of(const RoundPolicy& policy, std::uint32_t participants) {
  const auto required =
      static_cast<std::uint32_t>(std::ceil(policy.quorum_fraction * participants));
  return std::clamp(std::max(required, policy.agents_min), 1u, std::max(participants, 1u));
}

Result<wire::PlanT> build_plan(const JobModel& job, const RoundPolicy& policy, CodecCache& cache,
                               const PlanRequest& request) {
  wire::PlanT plan;
  plan.id = std::make_unique<wire::RoundId>(wire_id(request.key));
  plan.purpose = wire::Purpose::train;
  // Round r turns version r - 1 into version r.
  plan.model_version = request.key.round - 1;
  plan.model_hash = request.model_hash;
  plan.divisor = job.wire().weighting() == wire::Weighting::examples
                     ? wire::DivisorRule::contributor_weights
                     : wire::DivisorRule::contributors;
  plan.seed = job.wire().seed();
  plan.deadline_ms = request.deadline_ms > 0 ? request.deadline_ms : policy.deadline_ms;
  plan.preliminary_deadline_ms = std::min(policy.preliminary_deadline_ms, plan.deadline_ms);
  plan.local_steps = policy.local_steps;
  plan.learning_rate = job.learning_rate(policy.learning_rate, request.key.round);
  plan.payloads_in_flight_max = request.payloads_in_flight_max;
  const std::uint32_t every = job.wire().evaluate_every_rounds();
  plan.evaluate = every > 0 && plan.model_version % every == 0;
  add_participants(policy, request, plan);

  const BucketBounds bounds = bounds_of(job, policy, request);
  TRIBUTARY_ASSIGN(const std::vector<std::string> specs, codecs_of(policy, request));
  for (const std::string& spec : specs) {
    TRIBUTARY_ASSIGN(auto exchange, exchange_by(spec, request, bounds, cache));
    plan.exchanges.push_back(std::move(exchange));
  }
  plan.exchanges_per_round = request.exchanges_per_round;
  plan.standalone = request.standalone;
  plan.divides_results = request.divides_results && request.collective != wire::Collective::star;
  TRIBUTARY_ASSIGN(const LayerGrouping grouping, parse_layer_grouping(policy.fusion));
  FusedGroups groups(job, grouping, request);
  TRIBUTARY_TRY(add_buckets(job, request, bounds, groups, cache, plan));
  plan.reason = std::make_unique<wire::ReasonT>();
  plan.reason->trigger = request.trigger;
  plan.reason->sentence =
      with_fusion(request.reason, policy, job, groups).substr(0, wire::kTextBytesMax);
  for (const wire::AlternativeT& alternative : request.alternatives) {
    plan.reason->alternatives.push_back(std::make_unique<wire::AlternativeT>(alternative));
  }
  plan.reason->inputs.assign(request.inputs.begin(), request.inputs.end());
  plan.gain_wanted = policy.planning.planned();
  plan.profile_requested = request.profile_requested;
  plan.trials = request.trials;
  plan.trial_s = request.trial_s;
  return plan;
}

std::uint32_t fused_layers(const JobModel& job) {
  std::uint32_t layers = 0;
  for (std::size_t i = 0; i < job.layers().layers().size(); ++i) {
    layers += is_exact(job, i) ? 0u : 1u;
  }
  return layers;
}

std::uint32_t fused_buckets(const JobModel& job, const RoundPlan& plan) {
  std::uint32_t buckets = 0;
  const std::span<const Layer> layers = job.layers().layers();
  std::size_t layer = 0;
  for (const PlannedBucket& bucket : plan.buckets_of(0)) {
    while (layers[layer].offset + layers[layer].count <= bucket.first_value) ++layer;
    buckets += is_exact(job, layer) ? 0u : 1u;
  }
  return buckets;
}

std::uint64_t bucket_values_bound(const JobModel& job, const RoundPolicy& policy,
                                  CodecCache& cache) {
  if (!policy.fusion.empty()) return fused_values_bound(job, policy);
  std::uint64_t most = policy.bucket_values_max;
  const bool whole = std::ranges::any_of(specs_of(policy), [&](const std::string& spec) {
    const auto codec = cache.get(spec);
    return codec.ok() && (*codec)->whole_layers();
  });
  if (whole) {
    for (const Layer& layer : job.layers().layers()) {
      most = std::max(most, std::min(layer.count, policy.layer_values_max));
    }
  }
  return std::min(most, job.values());
}

double divisor_of(const wire::PlanT& plan, const Bitmap& contributors,
                  const std::vector<double>& weights) {
  if (plan.divisor == wire::DivisorRule::one) return 1;
  if (plan.divisor == wire::DivisorRule::contributors) return contributors.count();
  double sum = 0;
  for (std::uint32_t i = 0; i < contributors.size(); ++i) {
    if (contributors.test(i)) sum += weights[i];
  }
  return sum;
}

}  // namespace tributary
