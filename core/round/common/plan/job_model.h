// A job in the form in which both machines use it: the validated definition, and the values derived
// from it. Immutable, so threads may share it.
//
// It owns the definition and everything that points into it. make() costs a hash over the layer map
// and a pass over the definition.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/status.h"
#include "core/optimizer/schedule.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/plan/model_rule.h"
#include "core/update/layer_map.h"
#include "schemas/frame.h"

namespace tributary {

class JobModel {
 public:
  // `definition` is a frame that holds a wire::Job (see records.h). Returns corrupt_data if it is
  // no such frame, mismatch if the layer map does not match its hash, and the error of the
  // optimizer, the strategy or the schedule if one of them is not valid.
  static Result<std::shared_ptr<const JobModel>> make(SharedBytes definition);

  std::uint64_t job() const { return wire().job(); }
  std::uint32_t revision() const { return wire().revision(); }
  std::uint64_t values() const { return layers_.values(); }
  std::uint64_t layer_map_hash() const { return layers_.hash(); }
  const LayerMap& layers() const { return layers_; }
  const wire::Job& wire() const { return *wire_; }
  const SharedBytes& definition() const { return definition_; }
  // The learning rate of a round according to the job's schedule; `full_rate` is the policy's rate.
  double learning_rate(double full_rate, std::uint64_t round) const {
    return scheduled_rate(schedule_, full_rate, round, wire().rounds());
  }
  // Whether the training after this round has the same rate, so that it can begin before its plan.
  bool rate_stays_after(std::uint64_t round) const {
    return learning_rate(1, round) == learning_rate(1, round + 1);
  }
  bool gradient() const { return wire().mode() == wire::ExchangeMode::gradient; }

 private:
  JobModel(SharedBytes definition, const wire::Job* job, LayerMap layers, const Schedule& schedule)
      : definition_(std::move(definition)),
        wire_(job),
        layers_(std::move(layers)),
        schedule_(schedule) {}

  SharedBytes definition_;
  const wire::Job* wire_;  // points into definition_
  LayerMap layers_;
  Schedule schedule_;
};

// Packs a message into a frame for a record. The session and the id in its envelope have no
// meaning.
template <typename MessageT>
Result<SharedBytes> keep_message(MessageT message) {
  wire::FrameT frame = frame_with(std::move(message));
  frame.session = 1;
  frame.message_id = 1;
  TRIBUTARY_ASSIGN(Bytes bytes, build_frame(frame));
  return std::make_shared<const Bytes>(std::move(bytes));
}

// The layer map as a message. All layers are parameters; the caller sets the kind of buffers.
std::unique_ptr<wire::LayerMapT> wire_layers(const LayerMap& map);

// The hash of a model's bytes.
std::uint64_t model_hash_of(std::span<const float> model);

// Identifies a model of a job.
struct ModelId {
  std::uint64_t version = 0;
  std::uint64_t hash = 0;  // model_hash_of
  friend bool operator==(const ModelId&, const ModelId&) = default;
};

}  // namespace tributary
