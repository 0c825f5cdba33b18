#include "core/round/common/plan/codec_trials.h"

#include <algorithm>
#include <utility>

#include "schemas/limits.h"

namespace tributary {
namespace {

// The parts of layers between two positions of a bucket. A part keeps the rows of its layer if it
// consists of whole rows.
std::vector<LayerRun> layers_within(const std::vector<LayerRun>& layers, std::uint32_t offset,
                                    std::uint32_t count) {
  std::vector<LayerRun> within;
  for (const LayerRun& layer : layers) {
    const std::uint32_t from = std::max(layer.offset, offset);
    const std::uint32_t to = std::min(layer.offset + layer.count, offset + count);
    if (from >= to) continue;
    LayerRun run = {.offset = from - offset, .count = to - from};
    const std::uint32_t row = layer.count / layer.rows;
    const bool whole = (from - layer.offset) % row == 0 && run.count % row == 0;
    if (whole) run.rows = run.count / row;
    within.push_back(run);
  }
  return within;
}

// Only buckets of the plan's first codec. Buckets of exact layers have another exchange, because no
// planner chooses their codec.
std::vector<const PlannedBucket*> buckets_to_try(const RoundPlan& plan) {
  std::vector<const PlannedBucket*> buckets;
  for (const PlannedBucket& bucket : plan.buckets_of(0)) {
    if (plan.wire().buckets[bucket.place]->exchange == 0) buckets.push_back(&bucket);
  }
  return buckets;
}

// The combined payload if this payload is the only one.
Status combine_alone(const Codec& codec, const StageCall& call, std::uint32_t values,
                     ByteSpan payload, Bytes& combined) {
  const std::unique_ptr<Aggregator> aggregator = codec.make_aggregator(call.stage(), values);
  TRIBUTARY_TRY(aggregator->begin(call, {}));
  TRIBUTARY_TRY(aggregator->add(call, payload));
  return aggregator->finish(call, combined);
}

}  // namespace

CodecTrials::CodecTrials(const RoundPlan& plan, std::uint32_t rank, const InputOf& input_of)
    : specs_(plan.wire().trials),
      limit_ns_(
          static_cast<TimeNs>(std::clamp(plan.wire().trial_s, 0.0, wire::kTrialSecondsMax) * 1e9)),
      round_{.job_seed = plan.wire().seed,
             .round = plan.key().round,
             .agent = rank,
             .agents = plan.agents()},
      tried_(specs_.size()) {
  const std::vector<const PlannedBucket*> buckets = buckets_to_try(plan);
  std::uint64_t all = 0;
  for (const PlannedBucket* bucket : buckets) all += bucket->values;
  if (all == 0) return;
  const bool small = all <= kValuesTried;
  const std::uint64_t each = std::min<std::uint64_t>(kSampleValues, all / buckets.size());
  const std::uint64_t samples = std::min<std::uint64_t>(kValuesTried / each, kSamplesMax);
  // `at` is the position of the next sample within the values of these buckets, if the model is
  // large.
  const std::uint64_t stride = all / samples;
  std::uint64_t at = small ? 0 : plan.key().round * kSampleValues % stride;
  const std::size_t most = small ? kSamplesMax : samples;
  std::uint64_t first = 0;
  for (const PlannedBucket* bucket : buckets) {
    const std::uint64_t end = first + bucket->values;
    while (at < end) {
      const auto offset = static_cast<std::uint32_t>(at - first);
      std::uint32_t count = std::min(kSampleValues, bucket->values);
      if (small) count = std::min(count, bucket->values - offset);
      // A sample is not shortened at the end of a bucket; it begins earlier instead.
      const std::uint32_t from = std::min(offset, bucket->values - count);
      if (samples_.size() < most) add_sample(*bucket, from, count, input_of);
      at += small ? count : stride;
    }
    first = end;
  }
}

void CodecTrials::add_sample(const PlannedBucket& bucket, std::uint32_t offset, std::uint32_t count,
                             const InputOf& input_of) {
  const Input input = input_of(bucket);
  const auto copy = [&](std::span<const float> all) {
    const std::span<const float> part = all.empty() ? all : all.subspan(offset, count);
    return FloatVector(part.begin(), part.end());
  };
  Sample& sample = samples_.emplace_back();
  sample.bucket = bucket.index;
  sample.values = copy(input.values);
  sample.layers = layers_within(bucket.layers, offset, count);
  if (!input.view) return;
  // The model may change before the trial runs. A move of the sample keeps the arrays in place.
  sample.view = input.view;
  sample.view->parameters = sample.parameters = copy(input.view->parameters);
  sample.view->first_moment = sample.first_moment = copy(input.view->first_moment);
  sample.view->second_moment = sample.second_moment = copy(input.view->second_moment);
}

bool CodecTrials::over() const {
  return next_ >= specs_.size() * samples_.size() || spent_ns_ >= limit_ns_;
}

void CodecTrials::step(CodecCache& codecs, const Execution& execution,
                       const std::function<TimeNs()>& stopwatch) {
  if (over()) return;
  const TimeNs began_at = stopwatch ? stopwatch() : 0;
  const std::size_t place = next_ / samples_.size();
  Tried& tried = tried_[place];
  const Result<std::shared_ptr<const Codec>> codec = codecs.get(specs_[place]);
  Status status = codec.status();
  if (status.ok()) {
    status = try_one(**codec, samples_[next_ % samples_.size()], execution, stopwatch, tried);
  }
  ++next_;
  // A failed trial is no error: the requested codec may belong to a build that knows more codecs.
  if (!status.ok()) {
    tried.failed = true;
    next_ = (place + 1) * samples_.size();
  }
  if (stopwatch) spent_ns_ += stopwatch() - began_at;
}

// A codec with error feedback sends later what it omits at first, so that part is late and not
// lost. A single round would count it as lost.
Status CodecTrials::try_one(const Codec& codec, const Sample& sample, const Execution& execution,
                            const std::function<TimeNs()>& stopwatch, Tried& tried) const {
  const auto count = static_cast<std::uint32_t>(sample.values.size());
  // A codec without error feedback is measured in a single round.
  const std::uint32_t turns = codec.contracts() ? kTurns : 1;
  StageCall call = {.round = round_, .execution = execution};
  call.round.bucket = sample.bucket;
  call.round.layers = sample.layers;
  if (sample.view) call.optimizer = &*sample.view;
  const std::unique_ptr<Encoder> encoder = codec.make_encoder(count);
  FloatVector input = sample.values;
  FloatVector decoded(count);
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    TRIBUTARY_TRY(play(codec, *encoder, call, input, decoded, stopwatch, tried));
    ++call.round.round;
    for (std::uint32_t i = 0; i < count; ++i) {
      input[i] -= decoded[i];  // the part that is not sent yet
      if (turn + 1 < turns) input[i] += sample.values[i];
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const double due = static_cast<double>(turns) * static_cast<double>(sample.values[i]);
    const double lost = input[i];
    tried.energy += due * due;
    tried.error += lost * lost;
  }
  return {};
}

// Plays one round with a single agent.
Status CodecTrials::play(const Codec& codec, Encoder& encoder, StageCall call,
                         std::span<const float> input, std::span<float> decoded,
                         const std::function<TimeNs()>& stopwatch, Tried& tried) const {
  const auto now = [&] { return stopwatch ? stopwatch() : 0; };
  const auto count = static_cast<std::uint32_t>(input.size());
  const std::size_t stages = codec.stages().size();
  std::vector<Bytes> wholes(stages);
  std::vector<ByteSpan> combined;
  Bytes payload;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    call.combined = combined;
    payload.clear();
    const TimeNs began_at = now();
    TRIBUTARY_TRY(encoder.encode(call, input, payload));
    tried.encode_ns += now() - began_at;
    tried.bytes += payload.size();
    if (payload.empty()) {
      return Status(StatusCode::unsupported, {.what = "trial of " + codec.spec(),
                                              .expected = "a payload of every stage",
                                              .got = "a stage that another agent is the root of",
                                              .remedy = {}});
    }
    TRIBUTARY_TRY(combine_alone(codec, call, count, payload, wholes[stage]));
    combined.emplace_back(wholes[stage]);
  }
  // The encoder sees its own payload as the result, as if it were the only agent.
  encoder.settle(combined, true);
  call.combined = std::span<const ByteSpan>(combined).first(stages - 1);
  const TimeNs began_at = now();
  TRIBUTARY_TRY(codec.decode(call, payload, decoded));
  tried.decode_ns += now() - began_at;
  tried.values += count;
  return {};
}

std::vector<wire::TrialT> CodecTrials::results() const {
  std::vector<wire::TrialT> results;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const Tried& tried = tried_[i];
    // The gain of zeros is undefined.
    if (tried.failed || tried.values == 0 || !(tried.energy > 0)) continue;
    wire::TrialT& result = results.emplace_back();
    result.codec = specs_[i];
    result.round = round_.round;
    result.gain = std::clamp(1 - tried.error / tried.energy, 0.0, 1.0);
    result.values = tried.values;
    result.bytes = tried.bytes;
    result.encode_s = static_cast<double>(tried.encode_ns) / 1e9;
    result.decode_s = static_cast<double>(tried.decode_ns) / 1e9;
  }
  return results;
}

}  // namespace tributary
