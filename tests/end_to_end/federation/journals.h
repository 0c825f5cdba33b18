// Reads the journals of a federation and checks that they are consistent.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"

namespace tributary::end_to_end {

Result<AgentState> read_agent_journal(const std::string& path);
Result<CoordinatorState> read_coordinator_journal(const std::string& path);

// The rounds whose updates each agent has taken into account.
using RoundsTaken = std::map<std::string, std::set<std::uint64_t>>;
// Rounds that were undecided when the process of an agent was killed. Their updates are lost in the
// buckets that do not count.
using RoundsInterrupted = std::map<std::string, std::set<RoundKey>>;

// Computes the result of a job in which nothing else is lost and nothing counts twice: every update
// that was taken is either in the agent's next committed contribution or still in its residual.
// Exact for the synthetic trainer and a lossless codec.
class Expectation {
 public:
  Expectation(std::uint64_t job_seed, RoundsTaken taken, RoundsInterrupted interrupted)
      : job_seed_(job_seed), taken_(std::move(taken)), interrupted_(std::move(interrupted)) {}

  // Replays all rounds of the job from the journal, with the contributors and divisors of each
  // bucket.
  void replay(const RestoredJob& job);

  std::uint64_t version() const { return version_; }
  std::uint64_t model_hash() const { return model_hash_; }  // as stored in the journal
  const FloatVector& model() const { return model_; }
  const FloatVector& residual(const std::string& agent_id) { return held_[agent_id]; }

 private:
  void replay_round(const RoundRecord& round, const EpochRecord& epoch);

  const std::uint64_t job_seed_;
  const RoundsTaken taken_;
  const RoundsInterrupted interrupted_;
  std::uint64_t version_ = 0;
  std::uint64_t model_hash_ = 0;
  FloatVector model_;
  std::map<std::string, FloatVector> held_;
};

}  // namespace tributary::end_to_end
