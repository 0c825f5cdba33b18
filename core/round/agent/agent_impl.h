// The implementation of Agent: owns the objects that make up an agent, and dispatches each event
// and each message of the session to the object that handles it. Not thread-safe.
//
// The members are constructed in the order of their dependencies: each object may refer to those
// above it, and all share context_. Messages of a session are trusted only after the session has
// checked them (AgentConnection).
#pragma once

#include <memory>
#include <utility>

#include "core/round/agent/agent.h"
#include "core/round/agent/agent_connection.h"
#include "core/round/agent/agent_telemetry.h"
#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/participation/agent_rounds.h"
#include "core/round/agent/participation/missing_aggregates.h"
#include "core/round/agent/participation/participation.h"
#include "core/round/agent/replica/local_updates.h"
#include "core/round/agent/replica/model_transfer.h"
#include "core/round/agent/replica/replica.h"

namespace tributary {

class Agent::Impl {
 public:
  explicit Impl(AgentConfig config) : context_(std::move(config)) {}

  Status restore(AgentState state);
  Actions handle(TimeNs now, Event& event);
  TimeNs next_wakeup_ns() const;

 private:
  friend class Agent;  // its views read the objects

  void pass(Event& event);
  void receive(const FrameReceived& event);
  void dispatch(const wire::Frame& frame, const FrameReceived& event);
  // Informs the parts of the agent about a lost session.
  void follow(AgentConnection::Change change);
  void maintain_connection();
  // The job, the model and the undecided rounds, for a Hello; null without a job.
  std::unique_ptr<wire::HoldingT> holding() const;
  void receive_job(const wire::Job& job, std::uint64_t message_id);
  // Adopts a complete download and answers its offer, or requests the model again.
  void finish_download();
  // Stores the whole replica if it has changed since its record, because no round may follow.
  void store_replica();
  // Returns not_found if the offer lacks the outcome of an undecided round.
  Status adopt(const ModelDownload& download);
  wire::Activity activity() const;
  bool trying_codecs() const;

  AgentContext context_;
  ClientSession session_{context_};
  AgentConnection connection_{context_, session_};
  AgentTelemetry telemetry_{context_, session_};
  Replica replica_{context_};
  ModelTransfer transfer_{context_, session_, replica_};
  AgentPeers peers_{context_, replica_};
  LocalUpdates updates_;
  MissingAggregates missing_{context_, session_};
  CodecCache codecs_;
  Participation participation_{context_,
                               {.session = session_,
                                .replica = replica_,
                                .peers = peers_,
                                .updates = updates_,
                                .missing = missing_}};
  AgentRounds rounds_{context_,
                      {.session = session_,
                       .replica = replica_,
                       .transfer = transfer_,
                       .peers = peers_,
                       .updates = updates_,
                       .missing = missing_,
                       .participation = participation_,
                       .codecs = codecs_}};
};

}  // namespace tributary
