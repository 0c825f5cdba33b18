// Codecs that are tried on the device, on the update that it has anyway: encoded and decoded again
// by this agent for itself, so that a planner learns what of a real update gets through where no
// histogram tells it.
//
// What the paper restores afterwards is the model; here there is nothing to restore. A trial has a
// copy of some of the values and encoders of its own, sends nothing, and draws by addresses, which
// nobody else's draws depend on. So models and residuals are the same with trials and without.
//
// In steps of one codec on one sample, so that a device that has something better to do does that.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/codec/codec.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"
#include "schemas/frame_generated.h"

namespace tributary {

class CodecTrials {
 public:
  // Of a small model all of it is tried, in its buckets; of a larger one about so many values, from
  // other places in every round.
  static constexpr std::uint32_t kValuesTried = 1u << 16;
  static constexpr std::uint32_t kSampleValues = 1u << 14;
  static constexpr std::uint32_t kSamplesMax = 16;  // of buckets that are smaller than a sample
  static constexpr std::uint32_t kTurns = 20;       // with error feedback, for codecs that have it

  using InputOf = std::function<std::span<const float>(const PlannedBucket& bucket)>;

  // Copies what it needs of the input.
  CodecTrials(const RoundPlan& plan, std::uint32_t rank, const InputOf& input_of);

  // Everything was tried, or the time for it has passed.
  bool over() const;
  // The stopwatch may be empty: then no time passes.
  void step(CodecCache& codecs, const Execution& execution,
            const std::function<TimeNs()>& stopwatch);
  // Of the codecs that could be tried so far, if only on some of the samples.
  std::vector<wire::TrialT> results() const;

 private:
  struct Sample {
    std::uint32_t bucket = 0;
    FloatVector values;
    std::vector<LayerRun> layers;
  };
  struct Tried {
    double energy = 0;
    double error = 0;
    std::uint64_t values = 0;
    std::uint64_t bytes = 0;
    TimeNs encode_ns = 0;
    TimeNs decode_ns = 0;
    bool failed = false;
  };

  void add_sample(const PlannedBucket& bucket, std::uint32_t offset, std::uint32_t count,
                  const InputOf& input_of);
  Status try_one(const Codec& codec, const Sample& sample, const Execution& execution,
                 const std::function<TimeNs()>& stopwatch, Tried& tried) const;
  Status play(const Codec& codec, Encoder& encoder, StageCall call, std::span<const float> input,
              std::span<float> decoded, const std::function<TimeNs()>& stopwatch,
              Tried& tried) const;

  std::vector<std::string> specs_;
  TimeNs limit_ns_ = 0;
  RoundContext round_;  // of all samples; each has its own bucket and layers
  std::vector<Sample> samples_;
  std::vector<Tried> tried_;  // by spec
  std::size_t next_ = 0;      // spec by spec, of each all samples
  TimeNs spent_ns_ = 0;
};

}  // namespace tributary
