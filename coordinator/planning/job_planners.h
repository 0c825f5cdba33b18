// One planner for each job, and what all of them choose from: codecs as measured on this machine.
//
// Threads: one at a time, the planner's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "core/plan/planner.h"

namespace tributary {

class JobPlanners {
 public:
  using GoOn = std::function<bool()>;
  using MeasureCodecs =
      std::function<Result<std::vector<PlanCodec>>(std::uint32_t agents, const GoOn& go_on)>;
  using MeasureSpeeds = std::function<DeviceSpeeds(const GoOn& go_on)>;

  static constexpr std::size_t kJobsMax = 64;

  JobPlanners(MeasureCodecs codecs, MeasureSpeeds own_speeds, GoOn go_on)
      : measure_(std::move(codecs)),
        measure_speeds_(std::move(own_speeds)),
        go_on_(std::move(go_on)) {}

  // Measures once; after an error, again.
  Status measure_codecs(std::uint32_t agents);
  // The job's planner, once it is made, goes on from this decision of the process before.
  void resume(std::uint64_t job, Planned planned);
  // The planner of a job whose model has so many values, made now if there is none yet.
  Result<Planner*> planner_of(std::uint64_t job, std::uint64_t values, std::uint32_t agents);

 private:
  const MeasureCodecs measure_;
  const MeasureSpeeds measure_speeds_;
  const GoOn go_on_;
  std::map<std::uint64_t, Planner> planners_;
  std::map<std::uint64_t, Planned> resumed_;
  std::vector<PlanCodec> codecs_;  // empty: not measured yet
  DeviceSpeeds own_speeds_;
};

}  // namespace tributary
