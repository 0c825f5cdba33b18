// The reference state of a simulated job: which rounds were committed and by which contributors,
// the model after each round, and an account of every agent's updates. Compares all replicas with
// it and reports differences to a Watch. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/round/agent/agent.h"
#include "core/round/audit/account.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"
#include "core/round/coordinator/coordinator.h"
#include "core/sim/checks/round_replay.h"
#include "core/sim/checks/watch.h"
#include "core/store/durability/durability.h"

namespace tributary {

class Ledger {
 public:
  // `watch` must outlive the ledger. The agents' ids are agent_name(0), agent_name(1), ... With a
  // durability other than `round`, power failures may undo what was not made durable.
  Ledger(std::uint32_t agents, std::uint64_t values, Watch& watch,
         Durability durability = Durability::round);

  // The id of agent `agent`, counted from 0.
  static std::string agent_name(std::uint32_t agent);

  // --- the coordinator's journal ---
  // The coordinator has stored a job or an epoch.
  void job_stored(const NewJobRecord& record, TimeNs now);
  void epoch_stored(const EpochRecord& record);
  // A commit record was stored, or may have been stored (the power failed, or the disk did).
  void commit_stored(const CommitRecord& record, TimeNs now);
  void commit_in_doubt(const CommitRecord& record);
  // Everything in the coordinator's journal is durable.
  void journal_durable() { losses_.rounds_durable = rounds_committed(); }
  // The state that a restarted coordinator has loaded from its journal; `power_failed`: since its
  // last start.
  void restored(const CoordinatorState& state, bool power_failed, TimeNs now);
  // The coordinator sends a Commit message.
  void published(const wire::Commit& commit, TimeNs now);
  // Compares the coordinator's model with the committed one.
  void check_coordinator(const Coordinator& machine, TimeNs now);

  // --- agents ---
  // The account of an agent's updates.
  Account& account(std::uint32_t agent) { return accounts_[agent]; }
  // The agent sends a part of an update to the coordinator.
  void update_sent(std::uint32_t agent, const wire::Update& update, const PayloadSlice& payload,
                   TimeNs now);
  // The agent has stored a record.
  void agent_stored(std::uint32_t agent, const AgentRecordToStore& record);
  // The agent has dropped its residual at its start, because records may be missing.
  void residual_dropped(std::uint32_t agent, std::uint64_t updates_taken, bool power_failed,
                        TimeNs now);
  // The agent's index in the epoch, if the frame is a Commit and the agent is a member of its
  // epoch; otherwise empty.
  std::optional<std::uint32_t> place(std::uint32_t agent, ByteSpan frame) const;
  // Compares the agent's replica and residual. Cheap if nothing has changed since the last call.
  void check_agent(std::uint32_t agent, const Agent& machine, bool restarted, TimeNs now);

  // The job's number; 0 before a job was stored.
  std::uint64_t job() const { return job_ ? job_->job() : 0; }
  // Number of committed rounds for each collective, by their plans.
  const std::map<std::string, std::uint64_t>& collectives() const { return replay_.collectives(); }
  std::uint64_t rounds_committed() const { return hashes_.empty() ? 0 : hashes_.size() - 1; }
  // Number of committed rounds that power failures have undone, and of residuals that agents have
  // dropped after power failures.
  std::uint64_t rounds_lost() const { return losses_.rounds; }
  std::uint64_t residuals_dropped() const { return losses_.residuals; }
  // Values of the aggregator's residual that coordinators have lost in power failures.
  std::uint64_t sums_values_lost() const { return losses_.sums_values; }
  // Hash of the model after each committed round, by version.
  const std::vector<std::uint64_t>& model_hashes() const { return hashes_; }
  // The largest error of any account, as a share of its bound.
  double conservation_error_max() const;

 private:
  // The agent's numbers at the last comparison.
  struct Seen {
    std::uint64_t version = UINT64_MAX;
    std::uint64_t taken = UINT64_MAX;
    std::size_t undecided = 0;
  };

  // All about rounds and records that power failures may undo.
  struct Losses {
    Durability durability = Durability::round;
    std::vector<RoundReplay::Mark> marks;  // by version, if rounds may be lost
    std::uint64_t rounds_durable = 0;      // rounds that no power failure may undo
    // Models of lost rounds: version and hash.
    std::set<std::pair<std::uint64_t, std::uint64_t>> models;
    std::uint64_t rounds = 0;       // number of those that were lost
    std::uint64_t residuals = 0;    // number of those that were dropped
    std::uint64_t sums_values = 0;  // of the aggregator's residual
  };

  void accept(const CommitRecord& record, TimeNs now);
  // Power failures may undo what was not made durable.
  bool may_lose() const { return losses_.durability != Durability::round; }
  void lose_rounds_after(std::uint64_t version, TimeNs now);
  void check_aggregator_residual(const RestoredJob& job, bool power_failed, TimeNs now);
  Status replay(const CommitRecord& record);
  void check_replica(const std::string& machine_name, std::uint64_t version, std::uint64_t hash,
                     const SharedFloats& model, TimeNs now);
  void complain(TimeNs now, const char* invariant, const Status& status,
                const std::string& machine_name);

  Watch& watch_;
  std::vector<Account> accounts_;
  std::vector<Seen> seen_;
  std::map<std::string, std::uint32_t> agents_;

  std::shared_ptr<const JobModel> job_;
  bool by_peers_ = false;
  bool accounted_ = true;  // the codecs keep what they have not sent
  RoundReplay replay_;
  std::vector<std::uint64_t> hashes_;  // model_hashes()
  std::vector<RoundKey> rounds_;       // committed rounds, from round 1
  Losses losses_;
  std::optional<CommitRecord> doubtful_;         // a commit that may be stored
  std::map<std::uint32_t, EpochRecord> epochs_;  // by number
};

}  // namespace tributary
