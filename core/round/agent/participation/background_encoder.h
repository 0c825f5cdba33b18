// Encodes stages of buckets on another thread of the host, one at a time, and computes the
// residuals that they leave. The agent's thread sends other payloads meanwhile.
//
// The caller begins a stage if none runs, and takes it before anything changes that it reads: the
// agent's updates, the bucket's encoder and the device's vectors. take() waits for it. Only a
// bucket whose codec does not read the optimizer's state can be encoded so, because the replica may
// change. All references outlive the object, and the work ends before it. Memory: one bucket. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/codec/device/codec_device.h"
#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/participation/device_input.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class BackgroundEncoder {
 public:
  struct Stage {
    std::shared_ptr<const RoundPlan> plan;
    std::uint32_t bucket = 0;
    std::uint32_t rank = 0;
    std::vector<SharedBytes> closed;  // the combined payloads of all earlier stages
    Encoder* encoder = nullptr;
    std::span<const float> values;      // in host memory
    DeviceVector* on_device = nullptr;  // not null: the input of all buckets is there
  };
  struct Encoded {
    Status status;
    Status read;  // an error: the input is lost with the device
    Bytes bytes;
    std::shared_ptr<FloatVector> left;  // null: there is none, or the caller must compute it
    EncodingFacts facts;
    TimeNs took_ns = 0;
  };

  BackgroundEncoder(AgentContext& context, DeviceInput& device_input)
      : context_(context), device_input_(device_input) {}

  // Whether stages are to be encoded so.
  bool enabled() const {
    const Execution& execution = context_.config.execution;
    return !paused_ && context_.config.encodes_in_background && execution.device != nullptr &&
           !execution.device->lost();
  }
  void pause(bool paused) { paused_ = paused; }

  // --- the buckets that are to be encoded when none is ---
  void wait_first(std::uint32_t bucket) { waiting_.push_front(bucket); }
  void wait_behind(std::uint32_t bucket) { waiting_.push_back(bucket); }
  bool any_waiting() const { return !waiting_.empty(); }
  std::optional<std::uint32_t> next_waiting();
  void forget_waiting() { waiting_.clear(); }

  // --- the stage that is encoded ---
  void begin(const EncodingFacts& round, Stage stage);
  bool running() const { return running_ != nullptr; }
  // Whether this is the token of the stage that runs.
  bool runs(Token token) const { return running() && token == last_token_; }
  // --- requires that one runs ---
  std::uint32_t bucket() const { return running_->stage.bucket; }
  Encoded take();

 private:
  struct Running {
    Stage stage;
    Encoded encoded;
    std::shared_ptr<BackgroundWork> work = nullptr;
  };

  // On any thread.
  void encode(const Stage& stage, Encoded& encoded);
  void keep_residual(const Stage& stage, const StageCall& call, Encoded& encoded);

  AgentContext& context_;
  DeviceInput& device_input_;
  bool paused_ = false;
  std::deque<std::uint32_t> waiting_;
  FloatVector scratch_;  // used only by the work
  std::unique_ptr<Running> running_;
  Token last_token_ = 0;
};

// Adds the facts of one stage of a bucket to those of the round with which it began.
void add_facts(const EncodingFacts& stage, std::uint32_t bucket, EncodingFacts& round);

}  // namespace tributary
