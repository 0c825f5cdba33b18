#include "core/round/common/plan/job_model.h"

#include <fmt/format.h>

#include "core/base/bytes/checksum.h"

namespace tributary {
namespace {

// The hash is computed anew and compared: offsets of buckets refer to the layer map, so two
// machines with different maps would add values of different layers.
Result<LayerMap> layer_map_of(const wire::LayerMap& map) {
  std::vector<LayerShape> shapes;
  shapes.reserve(map.layers() ? map.layers()->size() : 0);
  for (std::uint32_t i = 0; map.layers() && i < map.layers()->size(); ++i) {
    const wire::Layer& layer = *map.layers()->Get(i);
    LayerShape shape{.name = layer.name()->str(), .shape = {}};
    if (layer.shape()) shape.shape.assign(layer.shape()->begin(), layer.shape()->end());
    shapes.push_back(std::move(shape));
  }
  TRIBUTARY_ASSIGN(LayerMap layers, LayerMap::make(std::move(shapes)));
  if (layers.hash() != map.hash()) {
    return Status(StatusCode::mismatch, {.what = "layer map of a job",
                                         .expected = fmt::format("hash {:016x}", map.hash()),
                                         .got = fmt::format("{:016x}", layers.hash()),
                                         .remedy = "submit the job by the same release"});
  }
  return layers;
}

}  // namespace

Result<std::shared_ptr<const JobModel>> JobModel::make(SharedBytes definition) {
  TRIBUTARY_ASSIGN(const wire::Frame* frame, open_frame(*definition));
  const wire::Job* job = frame->message_as_Job();
  if (!job) {
    return Status(StatusCode::corrupt_data, {.what = "definition of a job",
                                             .expected = "a Job",
                                             .got = wire::EnumNameMessage(frame->message_type()),
                                             .remedy = "submit the job again"});
  }
  TRIBUTARY_ASSIGN(LayerMap layers, layer_map_of(*job->layer_map()));
  // A job with an impossible optimizer is refused here and not in its first round.
  TRIBUTARY_TRY(make_model_rule(*job).status());
  Schedule schedule;
  if (job->schedule() && job->schedule()->size() > 0) {
    TRIBUTARY_ASSIGN(schedule, parse_schedule(job->schedule()->string_view()));
  }
  return std::shared_ptr<const JobModel>(
      new JobModel(std::move(definition), job, std::move(layers), schedule));
}

std::unique_ptr<wire::LayerMapT> wire_layers(const LayerMap& map) {
  auto wire = std::make_unique<wire::LayerMapT>();
  wire->hash = map.hash();
  for (const Layer& layer : map.layers()) {
    auto made = std::make_unique<wire::LayerT>();
    made->name = layer.name;
    made->values = layer.count;
    made->shape = layer.shape;
    made->kind = wire::LayerKind::parameter;
    wire->layers.push_back(std::move(made));
  }
  return wire;
}

std::uint64_t model_hash_of(std::span<const float> model) { return hash64(bytes_of(model)); }

}  // namespace tributary
