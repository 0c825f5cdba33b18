#include "core/round/common/plan/round_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/codec/device/device_vector.h"
#include "core/codec/error_feedback.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/collective/side_by_side.h"
#include "core/round/common/plan/standalone_payload.h"
#include "core/update/buckets.h"

namespace tributary {
namespace {

constexpr std::size_t kQuotedNameMax = 64;  // bytes of a layer's name in an error

Status disagree(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::mismatch, {.what = std::move(what),
                                       .expected = std::move(expected),
                                       .got = std::move(got),
                                       .remedy = "have the plan made by a build that agrees"});
}

// Checks that a bucket of a codec of whole layers divides no layer that must stay whole, and no row
// of a larger one. `end` is where the bucket begins or ends.
Status check_bucket_end(const LayerMap& map, std::uint64_t end, const wire::ExchangeT& exchange) {
  const Layer* layer = map.at_offset(end);
  if (!layer || layer->offset == end) return {};
  const std::uint64_t step = cut_step(*layer, exchange.layer_values);
  const bool whole = layer->count <= exchange.layer_values;
  if (!whole && (end - layer->offset) % step == 0) return {};
  return disagree(fmt::format("bucket of {} that begins or ends inside layer '{}'", exchange.codec,
                              layer->name.substr(0, kQuotedNameMax)),
                  whole ? fmt::format("all of its {} values in one bucket", layer->count)
                        : fmt::format("a cut at a multiple of {} values", step),
                  fmt::format("a cut at its value {}", end - layer->offset));
}

Result<std::vector<LayerRun>> layers_of(const wire::BucketT& bucket,
                                        const wire::ExchangeT& exchange, const LayerMap& map) {
  const bool whole = exchange.layer_values > 0;
  if (whole) {
    TRIBUTARY_TRY(check_bucket_end(map, bucket.first_value, exchange));
    TRIBUTARY_TRY(check_bucket_end(map, bucket.first_value + bucket.values, exchange));
  }
  return layer_runs(map, bucket.first_value, bucket.values,
                    whole ? LayerPart::rows : LayerPart::vector);
}

// The plan must describe a codec in the same terms as this build's codec does.
Status check_exchange(const wire::ExchangeT& exchange, const Codec& codec) {
  const bool known = (exchange.collective > wire::Collective::unspecified &&
                      exchange.collective <= wire::Collective::all_gather) ||
                     exchange.collective == wire::Collective::in_network;
  if (!known) {
    return Status(StatusCode::unsupported, {.what = "collective of a plan",
                                            .expected = "one up to all_gather, or in_network",
                                            .got = wire::EnumNameCollective(exchange.collective),
                                            .remedy = "plan the round without it"});
  }
  const auto aggregation = static_cast<int>(codec.aggregation()) + 1;
  if (static_cast<int>(exchange.aggregation) != aggregation) {
    return disagree("aggregation of " + exchange.codec, std::string(name(codec.aggregation())),
                    wire::EnumNameAggregation(exchange.aggregation));
  }
  if (exchange.stages.size() != codec.stages().size()) {
    return disagree("stages of " + exchange.codec, fmt::format("{}", codec.stages().size()),
                    fmt::format("{}", exchange.stages.size()));
  }
  // A plan of an earlier build cuts layers anywhere, also for a codec of whole layers.
  if (exchange.layer_values > 0 && !codec.whole_layers()) {
    return disagree("layer_values of " + exchange.codec, "0: the codec accepts any division",
                    fmt::format("{}", exchange.layer_values));
  }
  TRIBUTARY_TRY(check_shares(codec, exchange.collective, exchange.ratios));
  if (exchange.ratio == 1) return {};
  return check_shares(codec, exchange.collective, std::span(&exchange.ratio, 1));
}

// Peers add encoded payloads if the codec can do so. Otherwise each member decodes all payloads:
// always for a gather, and with all_gather also for codecs that would have to encode again. A
// broadcast has only one payload.
bool stays_side_by_side(wire::Collective collective, const Codec& codec) {
  if (codec.stages().back().combine == Combine::broadcast) return false;
  if (codec.aggregation() == Aggregation::sum || collective == wire::Collective::star ||
      collective == wire::Collective::in_network) {
    return false;
  }
  return collective == wire::Collective::all_gather || codec.aggregation() == Aggregation::gather;
}

// The table of the aggregator must be that of this build's codec for these agents.
Result<thc::NetworkTable> table_of(const wire::ExchangeT& exchange, std::uint32_t agents) {
  const wire::SumsInNetworkT& sums = *exchange.sums;
  if (sums.agents != agents) {
    return disagree("agents of the sums in the network",
                    fmt::format("{}, all participants", agents), fmt::format("{}", sums.agents));
  }
  TRIBUTARY_ASSIGN(const thc::NetworkTable table, thc::network_table(exchange.codec, agents));
  if (sums.table == table.fingerprint && sums.wide == table.wide) return table;
  return disagree(
      "table of the sums in the network",
      fmt::format("fingerprint {:#06x}, {} bits", table.fingerprint, table.wide ? 16 : 8),
      fmt::format("{:#06x}, {} bits", sums.table, sums.wide ? 16 : 8));
}

}  // namespace

Status check_shares(const Codec& codec, wire::Collective collective,
                    std::span<const double> shares) {
  if (shares.empty()) return {};
  if (collective != wire::Collective::star) {
    return disagree("shares that agents keep", "none, or the star",
                    wire::EnumNameCollective(collective));
  }
  const std::optional<double> most = codec.own_share();
  if (!most) {
    return disagree("shares that agents keep",
                    "a codec that lets each agent keep places of its own", codec.spec());
  }
  for (const double share : shares) {
    if (share > 0 && share <= *most) continue;
    return disagree("the share that an agent keeps of " + codec.spec(),
                    fmt::format("above 0 and at most {}", *most), fmt::format("{}", share));
  }
  return {};
}

Result<std::shared_ptr<const Codec>> CodecCache::get(const std::string& spec) {
  const auto found = codecs_.find(spec);
  if (found != codecs_.end()) return found->second;
  TRIBUTARY_ASSIGN(std::unique_ptr<Codec> made, make_codec(spec));
  // Plans keep their codecs alive, so clearing costs only the construction of codecs that are used
  // again.
  if (codecs_.size() >= kCodecsMax) codecs_.clear();
  const std::shared_ptr<const Codec> codec = std::move(made);
  codecs_.emplace(spec, codec);
  return codec;
}

// Deliberately loose: it need not know the codec, and it only has to stop allocations that are out
// of proportion to the bucket.
std::uint64_t PlannedBucket::stage_bytes_max(std::uint32_t agents) const {
  // A bound that holds for every codec: 16 bytes per value, a fixed part, and the data that small
  // stages have per agent.
  constexpr std::uint64_t kFixedBytes = 4096;
  constexpr std::uint64_t kAgentBytes = 64;
  const std::uint64_t bytes = std::uint64_t{values} * 16 + kFixedBytes + kAgentBytes * agents;
  const std::uint64_t payload_bytes = std::min<std::uint64_t>(bytes, tributary::kPayloadBytesMax);
  return side_by_side ? (payload_bytes + kAgentBytes) * agents : payload_bytes;
}

std::optional<std::uint32_t> PlannedBucket::outliving_stage() const {
  if (codec->outlives_round()) return 0;
  return allows_standalone ? std::optional(standalone_stage()) : std::nullopt;
}

Result<std::shared_ptr<const RoundPlan>> RoundPlan::make(const wire::PlanT& plan,
                                                         const JobModel& job, CodecCache& cache) {
  std::shared_ptr<RoundPlan> made(new RoundPlan);
  made->wire_ = plan;
  made->key_ = key_of(*plan.id);
  made->participants_ = plan.participants.empty() ? Bitmap(plan.agents, true)
                                                  : Bitmap(plan.participants, plan.agents);
  made->agents_ = made->participants_.count();
  if (made->agents_ == 0) return disagree("participants of a plan", "at least one", "none");
  if (!plan.exchanges.empty()) made->collective_ = plan.exchanges[0]->collective;
  if (plan.exchanges_per_round > 1 && !made->by_peers()) {
    return disagree("exchanges of a round by the star or in the network", "1",
                    fmt::format("{}", plan.exchanges_per_round));
  }
  const auto each = static_cast<std::uint32_t>(plan.buckets.size());
  // Each exchange has its own copy of all buckets, with an index of its own. The index is part of
  // the address of random draws, so two exchanges of a round draw different numbers.
  for (std::uint32_t i = 0; i < each * plan.exchanges_per_round; ++i) {
    const wire::BucketT& bucket = *plan.buckets[i % each];
    const wire::ExchangeT& exchange = *plan.exchanges[bucket.exchange];
    if (bucket.first_value + bucket.values > job.values()) {
      return disagree(fmt::format("end of bucket {}", i), fmt::format("at most {}", job.values()),
                      fmt::format("{}", bucket.first_value + bucket.values));
    }
    TRIBUTARY_ASSIGN(std::shared_ptr<const Codec> codec, cache.get(exchange.codec));
    TRIBUTARY_TRY(check_exchange(exchange, *codec));
    if (exchange.collective != made->collective_) {
      return disagree("collectives of a plan", wire::EnumNameCollective(made->collective_),
                      wire::EnumNameCollective(exchange.collective));
    }
    TRIBUTARY_ASSIGN(std::vector<LayerRun> layers, layers_of(bucket, exchange, job.layers()));
    const bool side_by_side = stays_side_by_side(exchange.collective, *codec);
    // The residual takes what a standalone payload lacks.
    const bool allows_standalone = plan.standalone &&
                                   exchange.collective == wire::Collective::star &&
                                   !codec->outlives_round() && codec->conserves();
    made->buckets_.push_back({.index = i,
                              .exchange = i / each,
                              .place = i % each,
                              .first_value = bucket.first_value,
                              .values = bucket.values,
                              .codec = std::move(codec),
                              .part_bytes = exchange.payload_bytes,
                              .keep = exchange.ratio,
                              .layers = std::move(layers),
                              .side_by_side = side_by_side,
                              .allows_standalone = allows_standalone});
    if (!made->in_network() || !exchange.sums) continue;
    TRIBUTARY_ASSIGN(made->buckets_.back().network, table_of(exchange, made->agents_));
    made->summed_ = made->wire_.exchanges[bucket.exchange].get();
  }
  if (made->in_network() && !made->summed_) {
    return disagree("sums in the network", "an epoch of the aggregator for one bucket", "none");
  }
  return std::shared_ptr<const RoundPlan>(std::move(made));
}

std::optional<std::uint32_t> RoundPlan::rank(std::uint32_t member) const {
  if (!participants_.test(member)) return std::nullopt;
  return participants_.count_before(member);
}

// Returns the number of members if no participant has this rank.
std::uint32_t RoundPlan::member(std::uint32_t rank) const {
  std::uint32_t member = 0;
  for (std::uint32_t before = 0; member < participants_.size(); ++member) {
    if (participants_.test(member) && before++ == rank) break;
  }
  return member;
}

double RoundPlan::divisor_of_all() const {
  switch (wire_.divisor) {
    case wire::DivisorRule::contributors:
      return agents_;
    case wire::DivisorRule::contributor_weights:
      return wire_.weight_sum;
    default:
      return 1;
  }
}

bool RoundPlan::conserves() const {
  return std::ranges::all_of(buckets_, [](const PlannedBucket& b) { return b.keeps_residual(); });
}

RoundContext RoundPlan::context(const PlannedBucket& bucket, std::uint32_t rank) const {
  return {.job_seed = wire_.seed,
          .round = key_.round,
          .bucket = bucket.index,
          .agent = rank,
          .agents = agents_,
          .layers = bucket.layers};
}

namespace {

// Float addition is not associative, so the order is part of the result.
// Sums in the order of ranks, as every replica does.
Status decode_side_by_side(const RoundPlan& plan, const PlannedBucket& bucket, StageCall call,
                           ByteSpan joined, std::span<float> sum) {
  TRIBUTARY_ASSIGN(const std::vector<ByteSpan> payloads, split_payloads(joined, plan.agents()));
  call.contributors = 1;
  FloatVector scratch(bucket.values);
  TRIBUTARY_TRY(bucket.codec->decode(call, payloads[0], sum));
  for (const ByteSpan payload : std::span(payloads).subspan(1)) {
    TRIBUTARY_TRY(bucket.codec->decode_add(call, payload, scratch, sum));
  }
  return {};
}

// The late payloads are added in the order in which the result has them.
Status decode_with_late(const PlannedBucket& bucket, StageCall call, ByteSpan result,
                        std::span<float> sum) {
  TRIBUTARY_ASSIGN(const ResultPayloads payloads, split_result(result));
  if (payloads.late.empty()) return bucket.codec->decode(call, result, sum);
  if (payloads.own.empty()) {
    std::ranges::fill(sum, 0.0f);
  } else {
    call.contributors = contributors_stated(payloads.own);
    TRIBUTARY_TRY(bucket.codec->decode(call, payloads.own, sum));
  }
  FloatVector values(bucket.values);
  for (const ByteSpan late : payloads.late) {
    TRIBUTARY_TRY(decode_late(*bucket.codec, call, late, values));
    add_values(call.execution, values, sum);
  }
  return {};
}

Status decode_sum(const RoundPlan& plan, const CommittedBucket& committed,
                  const Execution& execution, const std::function<void()>* before_host,
                  std::span<float> sum) {
  const PlannedBucket& bucket = plan.buckets()[committed.bucket];
  const StageCall call = {.round = plan.context(bucket),
                          .execution = execution,
                          .combined = std::span(committed.combined).first(bucket.last_stage()),
                          .contributors = committed.contributors,
                          .before_host = before_host};
  if (before_host != nullptr && !decodes_on_device(plan, committed)) call.host_takes_over();
  const ByteSpan result = committed.combined.back();
  Status status = bucket.side_by_side ? decode_side_by_side(plan, bucket, call, result, sum)
                                      : decode_with_late(bucket, call, result, sum);
  if (status.ok()) return {};
  return std::move(status).at(fmt::format("bucket {}", committed.bucket));
}

}  // namespace

Status decode_contribution(const PlannedBucket& bucket, const StageCall& call, ByteSpan payload,
                           std::span<float> values) {
  return is_standalone(payload) ? decode_standalone(*bucket.codec, call, payload, values)
                                : bucket.codec->decode(call, payload, values);
}

Status decode_bucket(const RoundPlan& plan, const CommittedBucket& committed,
                     const Execution& execution, FloatVector& sum) {
  sum.resize(plan.buckets()[committed.bucket].values);
  return decode_sum(plan, committed, execution, nullptr, sum);
}

bool decodes_on_device(const RoundPlan& plan, const CommittedBucket& committed) {
  const PlannedBucket& bucket = plan.buckets()[committed.bucket];
  if (bucket.side_by_side || !encodes_from_device(*bucket.codec)) return false;
  const Result<ResultPayloads> payloads = split_result(committed.combined.back());
  return payloads.ok() && payloads->late.empty();
}

Status decode_bucket_on_device(const RoundPlan& plan, const CommittedBucket& committed,
                               const Execution& execution, const std::function<void()>& before_host,
                               std::span<float> sum) {
  return decode_sum(plan, committed, execution, &before_host, sum);
}

std::optional<OptimizerView> encoder_view(const RoundPlan& plan, const PlannedBucket& bucket,
                                          const ModelRule& rule, std::span<const float> model) {
  std::optional<OptimizerView> view =
      rule.view(bucket.first_value, model.subspan(bucket.first_value, bucket.values),
                plan.wire().learning_rate);
  // An agent's value is its gradient times its weight; a weight is the divisor of all over agents.
  if (view) view->value_scale *= static_cast<float>(plan.agents() / plan.divisor_of_all());
  return view;
}

}  // namespace tributary
