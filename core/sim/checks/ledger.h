// The truth about a simulated job: which rounds were committed and with whom in them, what the
// model must be after each, and an account of every agent. Compares all replicas with it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/round/agent/agent.h"
#include "core/round/audit/account.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/coordinator.h"
#include "core/sim/checks/round_replay.h"
#include "core/sim/checks/watch.h"

namespace tributary {

class Ledger {
 public:
  // Agents are named agent_name(i).
  Ledger(std::uint32_t agents, std::uint64_t values, Watch& watch);

  static std::string agent_name(std::uint32_t agent);

  // --- the coordinator's journal ---
  void job_stored(const NewJobRecord& record, TimeNs now);
  void epoch_stored(const EpochRecord& record);
  // Done, or perhaps done: power went, or the disk failed.
  void commit_stored(const CommitRecord& record, TimeNs now);
  void commit_in_doubt(const CommitRecord& record);
  // What a restarted coordinator found.
  void restored(const CoordinatorState& state, TimeNs now);
  // A Commit message leaves the coordinator.
  void published(const wire::Commit& commit, TimeNs now);
  void coordinator_seen(const Coordinator& machine, TimeNs now);

  // --- agents ---
  Account& account(std::uint32_t agent) { return accounts_[agent]; }
  void update_sent(std::uint32_t agent, const wire::Update& update, const PayloadSlice& payload,
                   TimeNs now);
  void agent_stored(std::uint32_t agent, const AgentRecordToStore& record);
  // The agent's place in the epoch of the Commit that this frame holds; nothing where it holds
  // another message, or the agent is not in that epoch.
  std::optional<std::uint32_t> place(std::uint32_t agent, ByteSpan frame) const;
  // Compares replica and residual. Cheap where nothing has changed since the last time.
  void agent_seen(std::uint32_t agent, const Agent& machine, bool restarted, TimeNs now);

  std::uint64_t job() const { return job_ ? job_->job() : 0; }
  // Rounds that were committed, by the collective of their plan.
  const std::map<std::string, std::uint64_t>& collectives() const { return replay_.collectives(); }
  std::uint64_t rounds_committed() const { return hashes_.empty() ? 0 : hashes_.size() - 1; }
  double conservation_error_max() const;

 private:
  struct Seen {
    std::uint64_t version = UINT64_MAX;
    std::uint64_t taken = UINT64_MAX;
    std::size_t undecided = 0;
  };

  void accept(const CommitRecord& record, TimeNs now);
  Status replay(const CommitRecord& record);
  void check_replica(const std::string& who, std::uint64_t version, std::uint64_t hash,
                     const SharedFloats& model, TimeNs now);
  void complain(TimeNs now, const char* invariant, const Status& status, const std::string& who);

  Watch& watch_;
  std::vector<Account> accounts_;
  std::vector<Seen> seen_;
  std::map<std::string, std::uint32_t> agents_;

  std::shared_ptr<const JobModel> job_;
  bool by_peers_ = false;
  bool accounted_ = true;  // its codecs keep what they have not sent
  RoundReplay replay_;
  std::vector<std::uint64_t> hashes_;  // of the model, by version
  std::vector<RoundKey> rounds_;       // that were committed, from round 1
  std::optional<CommitRecord> doubtful_;
  std::map<std::uint32_t, EpochRecord> epochs_;
};

}  // namespace tributary
