// The planners of all jobs, and the codec measurements of this machine that they share.
//
// Threads: all methods belong to the planner's thread.
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

  // Bound on the number of planners. If it is reached, all are dropped and start anew.
  static constexpr std::size_t kJobsMax = 64;

  JobPlanners(MeasureCodecs codecs, MeasureSpeeds own_speeds, GoOn go_on)
      : measure_(std::move(codecs)),
        measure_speeds_(std::move(own_speeds)),
        go_on_(std::move(go_on)) {}

  // Measures the codecs unless they are known. Returns the error of the measurement; the next call
  // then repeats it.
  Status measure_codecs(std::uint32_t agents);
  // The job's planner will continue from this decision of an earlier process.
  void resume(std::uint64_t job, Planned planned);
  struct Job {
    std::uint64_t id = 0;
    std::uint64_t values = 0;  // of the model
    std::uint32_t agents = 0;
    bool in_network_codec = false;  // whether kInNetworkCodec is among the codecs
  };

  // Returns the job's planner. Makes it (which may measure the codecs) if the job has none, and
  // anew if kInNetworkCodec joins the others later. A new planner continues from the one that was
  // used last, unless an earlier process left a decision of the job: links and codecs are those of
  // the machines, not of a job.
  // The pointer is valid until a call for another job.
  Result<Planner*> planner_of(const Job& job);

 private:
  const MeasureCodecs measure_;
  const MeasureSpeeds measure_speeds_;
  const GoOn go_on_;
  struct Known {
    Planner planner;
    bool in_network;  // has kInNetworkCodec
  };
  std::map<std::uint64_t, Known> planners_;
  std::uint64_t used_last_ = 0;  // a job
  std::map<std::uint64_t, Planned> resumed_;
  std::vector<PlanCodec> codecs_;  // empty until measured; with kInNetworkCodec
  DeviceSpeeds own_speeds_;
};

}  // namespace tributary
