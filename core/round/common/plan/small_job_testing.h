// A small job for unit tests: its definition, and the JobModel of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/round/common/plan/job_model.h"

namespace tributary::round_testing {

inline constexpr std::uint64_t kSmallJob = 1;
inline constexpr std::uint64_t kSmallValues = 160;

// Job 1, revision 1: ten rounds of deltas. Its model has the given layers.
inline wire::JobT small_job(std::vector<LayerShape> layers = {
                                {.name = "v", .shape = {kSmallValues}}}) {
  wire::JobT job;
  job.job = kSmallJob;
  job.revision = 1;
  job.name = "job";
  job.state = wire::JobState::running;
  job.mode = wire::ExchangeMode::delta;
  job.rounds = 10;
  job.weighting = wire::Weighting::equal;
  job.model = std::make_unique<wire::ModelT>();
  job.model->kind = wire::ModelKind::built_in;
  job.model->name = "none";
  job.optimizer = std::make_unique<wire::OptimizerT>();
  job.optimizer->kind = wire::OptimizerKind::sgd;
  job.layer_map = wire_layers(*LayerMap::make(std::move(layers)));
  return job;
}

// Makes the layer at this index an exact buffer.
inline void make_exact_buffer(wire::JobT& job, std::size_t layer) {
  job.layer_map->layers[layer]->kind = wire::LayerKind::buffer;
  job.layer_map->layers[layer]->exact = true;
}

inline std::shared_ptr<const JobModel> job_model(wire::JobT job) {
  auto definition = keep_message(std::move(job));
  EXPECT_TRUE(definition.ok()) << definition.status().text();
  auto model = JobModel::make(std::move(*definition));
  EXPECT_TRUE(model.ok()) << model.status().text();
  return *std::move(model);
}

}  // namespace tributary::round_testing
