// A job as both machines work with it: its definition, checked, and what follows from it.
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
  // `definition` is a frame that holds a wire::Job; see records.h.
  static Result<std::shared_ptr<const JobModel>> make(SharedBytes definition);

  std::uint64_t job() const { return wire().job(); }
  std::uint32_t revision() const { return wire().revision(); }
  std::uint64_t values() const { return layers_.values(); }
  std::uint64_t layer_map_hash() const { return layers_.hash(); }
  const LayerMap& layers() const { return layers_; }
  const wire::Job& wire() const { return *wire_; }
  const SharedBytes& definition() const { return definition_; }
  // Of a round, as the job's schedule has it.
  double learning_rate(double full_rate, std::uint64_t round) const {
    return scheduled_rate(schedule_, full_rate, round, wire().rounds());
  }
  bool gradient() const { return wire().mode() == wire::ExchangeMode::gradient; }

 private:
  JobModel(SharedBytes definition, const wire::Job* job, LayerMap layers, const Schedule& schedule)
      : definition_(std::move(definition)),
        wire_(job),
        layers_(std::move(layers)),
        schedule_(schedule) {}

  SharedBytes definition_;
  const wire::Job* wire_;  // within definition_
  LayerMap layers_;
  Schedule schedule_;
};

// The frame that a record keeps a message in. Its envelope says nothing.
template <typename MessageT>
Result<SharedBytes> keep_message(MessageT message) {
  wire::FrameT frame = frame_with(std::move(message));
  frame.session = 1;
  frame.message_id = 1;
  TRIBUTARY_ASSIGN(Bytes bytes, build_frame(frame));
  return std::make_shared<const Bytes>(std::move(bytes));
}

std::unique_ptr<wire::LayerMapT> wire_layers(const LayerMap& map);

std::uint64_t model_hash_of(std::span<const float> model);

// Names a model of a job.
struct ModelId {
  std::uint64_t version = 0;
  std::uint64_t hash = 0;  // model_hash_of
};

}  // namespace tributary
