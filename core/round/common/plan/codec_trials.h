// Measures codecs on the device, on its own update: this agent encodes and decodes samples of the
// update for itself. A planner learns in this manner how much of a real update a codec keeps if no
// histogram shows it.
//
// Trials never change models or residuals, so nothing has to be restored afterwards. A trial has
// its own copy of some values and its own encoders, and sends nothing. Its random draws have
// addresses, on which no other draw depends.
//
// The work is divided into steps of one codec on one sample, so that an agent can stop for more
// urgent work. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/codec/codec.h"
#include "core/codec/optimizer_view.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/plan/round_plan.h"
#include "schemas/frame_generated.h"

namespace tributary {

class CodecTrials {
 public:
  // A model of up to kValuesTried values is measured completely, in its buckets. In a larger model
  // about that many values are measured, at other positions in every round.
  static constexpr std::uint32_t kValuesTried = 1u << 16;
  static constexpr std::uint32_t kSampleValues = 1u << 14;
  static constexpr std::uint32_t kSamplesMax = 16;  // also if buckets are smaller than a sample
  // Rounds of error feedback per sample, for codecs that use it.
  static constexpr std::uint32_t kTurns = 20;

  // The values of a bucket that this agent encodes, and the view of its optimizer; no view: none.
  struct Input {
    std::span<const float> values;
    std::optional<OptimizerView> view = {};
  };
  using InputOf = std::function<Input(const PlannedBucket& bucket)>;

  // Copies the samples from the input. `rank` is this agent's place among the participants. The
  // plan names the codecs and the time limit.
  CodecTrials(const RoundPlan& plan, std::uint32_t rank, const InputOf& input_of);

  // True if everything was measured or the time limit has passed.
  bool over() const;
  // Measures the next codec and sample. With an empty stopwatch no time passes. A codec that fails,
  // perhaps because this build does not know it, is skipped and has no result.
  void step(CodecCache& codecs, const Execution& execution,
            const std::function<TimeNs()>& stopwatch);
  // Results of the codecs measured so far, possibly on a part of the samples. A codec that failed,
  // or whose samples were all zero, has none.
  std::vector<wire::TrialT> results() const;

 private:
  // A copy of some values of one bucket, and of the optimizer's state for them.
  struct Sample {
    std::uint32_t bucket = 0;
    FloatVector values;
    std::vector<LayerRun> layers;
    std::optional<OptimizerView> view;  // into the three arrays
    FloatVector parameters;
    FloatVector first_moment;
    FloatVector second_moment;
  };
  // The sums over all samples of one codec.
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
  RoundContext round_;  // common to all samples; each has its own bucket and layers
  std::vector<Sample> samples_;
  std::vector<Tried> tried_;  // by index in specs_
  std::size_t next_ = 0;  // position of the next step: all samples of a spec before the next spec
  TimeNs spent_ns_ = 0;
};

}  // namespace tributary
