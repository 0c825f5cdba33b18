// The planner at work: what the machine tells of rounds goes to one planner for each job, with what
// is known of links, and its advice goes back. It thinks on a thread of its own, and no round waits
// for it: until there is advice, rounds go on as they are.
//
// What the thread has not come to yet is bounded: beyond kWaitingMax rounds, or Worker::kWaitingMax
// pieces of work, a round has no plan of its own, and the log says that the planner is behind.
//
// Threads: resume(), told(), reported() and played() belong to the machine's; `advise` is called on
// the desk's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/planning/job_planners.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/plan/planner.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/worker.h"

namespace tributary {

struct PlanDeskParts {
  // What is known of these agents' links now; on the machine's thread.
  std::function<PlanLines(const std::vector<std::string>& agents)> lines;
  std::function<void(PlanAdvised advised)> advise;
  // Which codecs there are to choose from, measured on this machine; on the desk's thread, once.
  // Takes seconds: asks often whether to go on, and ends soon where it is not to.
  JobPlanners::MeasureCodecs codecs;
  // How quick this machine is at them, to compare devices with; likewise.
  JobPlanners::MeasureSpeeds own_speeds;
  const Clock& clock;
  Log& log;
};

class PlanDesk {
 public:
  explicit PlanDesk(PlanDeskParts parts);
  ~PlanDesk();
  PlanDesk(const PlanDesk&) = delete;
  PlanDesk& operator=(const PlanDesk&) = delete;

  // What was decided for a job before this process began is decided again, and advised at once.
  void resume(std::uint64_t job, PlanInputs inputs);
  // There is a job to plan for, of about so many agents: codecs are measured before its first round
  // is over. Any thread.
  void prepare(std::uint32_t agents);
  void reported(const AgentReported& report);
  void told(const SpeedsTold& told);
  void played(const RoundPlayed& round);

 private:
  static constexpr std::size_t kJobsMax = JobPlanners::kJobsMax;
  static constexpr std::size_t kAgentsMax = 4096;  // of a job
  static constexpr std::size_t kWaitingMax = 64;   // rounds that a thought has not come to yet

  // What agents have said last.
  struct Reported {
    double compute_s = 0;
    GainPoints gain;
    std::uint64_t day = 0;
    std::uint64_t bytes_today = 0;
    std::map<std::string, double> tried = {};  // since the last round that was played
  };
  struct Job {
    std::map<std::string, Reported> agents;
    std::chrono::nanoseconds began{};
    // Of the round that was played last: those before it that still wait are not worth a plan.
    std::shared_ptr<std::atomic<std::uint64_t>> newest =
        std::make_shared<std::atomic<std::uint64_t>>(0);
  };
  struct Thought;

  void take_trial(const AgentReported& report, const wire::TrialT& trial, Reported& agent);
  RoundFacts facts_of(Job& job, const RoundPlayed& round) const;
  PlanPolicy policy_of(const Job& job, const RoundPlayed& round) const;
  void think(const Thought& thought);
  void log_full(const Status& posted) const;

  const PlanDeskParts parts_;
  std::map<std::uint64_t, Job> jobs_;
  std::map<std::string, DeviceSpeeds> devices_;  // by agent
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> ending_ = false;
  JobPlanners planners_;  // the desk's thread
  Worker thread_;         // ends first
};

}  // namespace tributary
