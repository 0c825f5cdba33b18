// Runs the planners: passes the results of rounds and the state of links to the job's planner, and
// its decisions back to the state machine.
//
// Planning runs on a thread of its own, and no round waits for it: until a decision arrives, rounds
// continue with the current plan. The queue is bounded. Beyond kWaitingMax rounds or
// Worker::kWaitingMax tasks, a round gets no plan of its own, and the log reports that the planner
// is behind.
//
// Threads: resume(), spent(), reported() and played() belong to the state machine's
// thread. parts.advise is called on the planner's thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/planning/job_planners.h"
#include "coordinator/planning/plan_spent.h"
#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/plan/planner.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/loop/worker.h"

namespace tributary {

// The functions and objects that a PlanService works with.
struct PlanServiceParts {
  // Returns the known links of these agents. Called on the state machine's thread.
  std::function<PlanLinks(const std::vector<std::string>& agents)> links;
  // Receives each decision.
  std::function<void(PlanAdvised advised)> advise;
  // Measures the available codecs on this machine. Called once on the planner's thread. It takes
  // seconds, calls go_on() often, and returns early if that is false.
  JobPlanners::MeasureCodecs codecs;
  // Measures the codec speeds of this machine, to compare devices with. Same rules.
  JobPlanners::MeasureSpeeds own_speeds;
  // Both must outlive the PlanService.
  const Clock& clock;
  Log& log;
};

class PlanService {
 public:
  explicit PlanService(PlanServiceParts parts);
  ~PlanService();
  PlanService(const PlanService&) = delete;
  PlanService& operator=(const PlanService&) = delete;

  // Repeats the decision of an earlier process from its inputs and publishes it at once.
  void resume(std::uint64_t job, PlanInputs inputs);
  // Charges the job's budgets with what earlier processes have spent.
  void spent(std::uint64_t job, const PlanSpent& spent);
  // Measures the codecs before the first round of a job with about this many agents ends.
  // Thread-safe.
  void prepare(std::uint32_t agents);
  // Adds an agent's report of a round.
  void reported(const AgentReported& report);
  // Adds an agent's codec speeds.
  void reported(const SpeedsReported& speeds);
  // Plans the next round after this one. The last round of a job ends its planning.
  void played(const RoundPlayed& round);

 private:
  static constexpr std::size_t kJobsMax = JobPlanners::kJobsMax;
  static constexpr std::size_t kAgentsMax = 4096;  // per job
  static constexpr std::size_t kWaitingMax = 64;   // rounds that wait for the planner

  // The last report of an agent.
  struct Reported {
    double compute_s = 0;
    double waited_s = 0;
    double hidden_s = 0;
    GainPoints gain;
    std::map<std::string, double> known_gains = {};  // of rates, by spec
    std::uint64_t day = 0;
    std::uint64_t bytes_today = 0;
    // Trials since the last planned round: gain and bytes per value.
    std::map<std::string, double> tried = {};
    std::map<std::string, double> tried_bytes = {};
  };
  struct Job {
    std::map<std::string, Reported> agents;
    // The time budget counts from here; empty: nothing was reported yet.
    std::optional<std::chrono::nanoseconds> began;
    // Number of the latest round. Older rounds that still wait are recorded but not planned.
    std::shared_ptr<std::atomic<std::uint64_t>> newest =
        std::make_shared<std::atomic<std::uint64_t>>(0);
  };
  struct Thought;

  void take_trial(const AgentReported& report, const wire::TrialT& trial, Reported& agent);
  RoundFacts facts_of(Job& job, const RoundPlayed& round) const;
  PlanPolicy policy_of(const Job& job, const RoundPlayed& round) const;
  void think(const Thought& thought);
  void log_full(const Status& posted) const;

  const PlanServiceParts parts_;
  std::map<std::uint64_t, Job> jobs_;
  std::map<std::string, DeviceSpeeds> devices_;  // by agent
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<bool> ending_ = false;
  JobPlanners planners_;      // belongs to the planner's thread
  Worker thread_{"planner"};  // destroyed first
};

}  // namespace tributary
