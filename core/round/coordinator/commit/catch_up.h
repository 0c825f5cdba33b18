// Brings the replicas of a job's agents to the current version: by commits if an agent is a few
// rounds behind, otherwise by the whole model (a transfer).
//
// Each session receives one missing item at a time (advance()). At most 32 transfers run at once,
// and other agents wait. New transfers share one snapshot of the model, which is kept while it is
// in use and its receivers can continue from it by commits. `job` and `committed` must outlive the
// object. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/commit/late_results.h"
#include "core/round/coordinator/commit/settlements.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class CatchUp {
 public:
  CatchUp(const JobContext& job, const CommittedModel& committed)
      : job_(job), committed_(committed), settlements_(job, committed), late_(job, committed) {}

  // --- sessions ---
  // The agent's state according to its Hello, and the means by which it reaches the current
  // version.
  wire::StandingT standing(const AgentSession& session, std::uint32_t epoch) const;
  // Copies the state in the Hello of a new session to the session.
  void greet(AgentSession& session);
  // Sends a new session the job, or what it lacks of the job.
  void begin(AgentSession& session);
  // Keeps the snapshot for ten minutes if the agent was in a download, so that it can resume.
  void left(const AgentSession& session);
  // Sends the job's state (running, paused, ...) to the agent.
  void send_state(AgentSession& session);

  // --- progress ---
  // Sends the agent the next item that it lacks, unless one is being sent.
  void advance(AgentSession& session);
  void advance_all();
  // The model was replaced. Drops the snapshot if no agent needs it.
  void model_replaced();
  // Starts waiting transfers if others have ended.
  void offer_to_waiting();
  // Reads outcomes from the journal again after a failure, if that is due.
  void read_again() { settlements_.load_again(); }
  TimeNs next_due_ns() const { return settlements_.next_due_ns(); }
  // Replaces a replica whose hash differs from the job's model of the same version.
  void check_replica(AgentSession& session, std::uint64_t version, std::uint64_t hash);

  // --- messages and events ---
  // Handles the acknowledgement of a message.
  void answered(AgentSession& session, const Conversation::Asked& asked);
  // Handles the refusal of a message.
  void refused(AgentSession& session, const Conversation::Asked& asked);
  // Handles the report of an applied commit. Returns true if the agent has reached that version.
  bool receive_applied(AgentSession& session, const wire::Applied& applied);
  // Handles an agent's request for the whole model.
  void receive_request(AgentSession& session, const wire::TransferRequest& request);
  // Handles an agent's request for the rest of a transfer.
  void receive_fetch(AgentSession& session, const wire::TransferFetch& fetch);
  // Sends the rest of an aggregate of a past round that an agent lacks, or has it read from the
  // journal first. Returns the number of bytes that are sent now.
  std::uint64_t send_missing(AgentSession& session, const wire::Receipt& receipt);
  // Handles the journal's answer for agents that wait for the outcome of a round or for its
  // results. Returns the number of bytes of results that are sent.
  std::uint64_t loaded(const RoundLoaded& event);
  // Bytes of results that were read from the journal and are being sent.
  std::uint64_t bytes_read() const { return late_.bytes_read(); }
  // Adds the results that were read for late agents since the last call of facts_stored().
  void add_facts(wire::RoundMechanismsT& facts) const { late_.add_facts(facts); }
  void facts_stored() { late_.facts_stored(); }

 private:
  // Notes that the agent has the model of a round that the journal has lost.
  void note_lost_rounds(const AgentSession& session, std::uint64_t version);

  // The model that new transfers send.
  struct Snapshot {
    std::uint64_t version = 0;
    std::uint64_t model_hash = 0;
    SharedFloats model;
    SharedBytes rule_state;
    std::uint64_t hash = 0;  // of the bytes of the model, followed by those of the rule
    std::uint64_t bytes = 0;
  };

  void send_job(AgentSession& session);
  void assign_job(AgentSession& session);
  void send_commit(AgentSession& session, const Published& round);
  void offer(AgentSession& session);
  void send_offer(AgentSession& session, const Snapshot& source, std::uint64_t from,
                  std::vector<wire::SettlementT> settled);
  void send_model(AgentSession& session, const Snapshot& source, std::uint64_t from);
  void stop_transfer(AgentSession& session);
  // The current snapshot; makes a new one if it is missing or cannot be used.
  const Snapshot& snapshot();
  std::ptrdiff_t transfers() const;
  bool download_may_resume() const { return job_.coordinator.now < snapshot_kept_until_ns_; }

  const JobContext& job_;
  const CommittedModel& committed_;
  Settlements settlements_;
  LateResults late_;
  std::optional<Snapshot> snapshot_;
  TimeNs snapshot_kept_until_ns_ = 0;  // for agents that lost their session in a download
  bool transfers_wait_ = false;        // an agent may be waiting for a transfer
  std::uint64_t lost_noted_ = 0;       // the last lost round that was noted
};

}  // namespace tributary
