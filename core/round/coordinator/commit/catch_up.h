// Brings the replicas of a job's agents to its current version: by commits where an agent is a few
// rounds behind, else by the whole model.
//
// Each session is given the next thing that it lacks, one at a time (advance()). Few models are on
// their way at once; the other agents wait, and all transfers share one snapshot of the model,
// which stays as long as its receivers can go on from there by commits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/commit/settlements.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class CatchUp {
 public:
  CatchUp(const JobContext& job, const CommittedModel& committed)
      : job_(job), committed_(committed), settlements_(job, committed) {}

  // --- sessions ---
  // What the agent has, as far as its Hello said, and how it gets to the current version.
  wire::StandingT standing(const AgentSession& session, std::uint32_t epoch) const;
  // Takes over what the Hello of a new session says that the agent has.
  void greet(AgentSession& session);
  // Sends a new session the job, or what it lacks of it.
  void begin(AgentSession& session);
  void left(const AgentSession& session);
  void send_state(AgentSession& session);

  // --- progress ---
  // Gives the agent the next thing that it lacks, unless that is on its way.
  void advance(AgentSession& session);
  void advance_all();
  // The model was replaced: the snapshot goes, if no agent needs it.
  void model_replaced();
  // Transfers that have ended make room for agents that wait for one.
  void offer_to_waiting();
  // A replica that differs from the job's model of the same version is replaced.
  void check_replica(AgentSession& session, std::uint64_t version, std::uint64_t hash);

  // --- messages and events ---
  void answered(AgentSession& session, const Conversation::Asked& asked);
  void refused(AgentSession& session, const Conversation::Asked& asked);
  // True: the agent has applied the commit that it was sent.
  bool receive_applied(AgentSession& session, const wire::Applied& applied);
  void receive_request(AgentSession& session, const wire::TransferRequest& request);
  void receive_fetch(AgentSession& session, const wire::TransferFetch& fetch);
  // An agent lacks the rest of an aggregate of a round that is over. Returns the bytes to be sent.
  std::uint64_t send_missing(AgentSession& session, const wire::Receipt& receipt);
  void loaded(const RoundLoaded& event);

 private:
  struct Snapshot {
    std::uint64_t version = 0;
    std::uint64_t model_hash = 0;
    SharedFloats model;
    SharedBytes rule_state;
    std::uint64_t hash = 0;  // of the model's bytes and the rule's behind them
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
  const Snapshot& snapshot();
  std::ptrdiff_t transfers() const;
  bool download_may_resume() const { return job_.coordinator.now < snapshot_kept_until_ns_; }

  const JobContext& job_;
  const CommittedModel& committed_;
  Settlements settlements_;
  std::optional<Snapshot> snapshot_;
  TimeNs snapshot_kept_until_ns_ = 0;  // for agents that lost their session in a download
  bool transfers_wait_ = false;        // some agent may be waiting for one
};

}  // namespace tributary
