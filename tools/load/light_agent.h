// An agent for the load generator: the connection, session, uploads and reports of the production
// agent, with large values shared by all agents of the process (shared_replica.h). It has no
// residual, no encoder and no journal.
//
// It differs from Agent in where payloads and models are: received parts go to shared memory, and
// payloads and models are made once for all agents. An agent that receives other bytes than the
// other agents ends with an error.
//
// Threads: an object belongs to one thread at a time; agents of several threads may share a
// replica.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/bytes/byte_ranges.h"
#include "core/round/agent/agent_connection.h"
#include "core/round/agent/agent_telemetry.h"
#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/context/client_session.h"
#include "core/round/agent/context/repeat_timer.h"
#include "core/round/agent/exchange/agent_peers.h"
#include "core/round/agent/participation/agent_reporter.h"
#include "core/round/agent/replica/pending_commit.h"
#include "core/round/agent/replica/replica.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/round_upload.h"
#include "tools/load/shared_replica.h"

namespace tributary {

class LightAgent {
 public:
  struct Options {
    AgentConfig config;
    std::uint32_t number = 0;  // index among the agents that share the replica
    std::shared_ptr<SharedReplica> shared;
  };
  explicit LightAgent(Options options)
      : number_(options.number),
        shared_(std::move(options.shared)),
        context_(std::move(options.config)) {}

  // Handles one event and returns the resulting actions, like Agent::handle().
  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;
  bool idle() const { return session_.idle(); }
  std::uint64_t model_version() const { return replica_.version(); }
  std::uint64_t model_hash() const { return replica_.id().hash; }

 private:
  // A payload, and the ranges of it that this agent has received.
  struct Arriving {
    std::shared_ptr<SharedPayload> payload;
    ByteRanges received;
    SharedBytes whole;  // null until the payload is complete
  };
  struct Round {
    Round(std::shared_ptr<const RoundPlan> plan, std::shared_ptr<SharedRound> shared_round)
        : own(std::move(plan)), shared(std::move(shared_round)) {}

    AgentRound own;
    std::shared_ptr<SharedRound> shared;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Arriving> arriving;  // by bucket and stage
    RepeatTimer ask;  // asks again for missing aggregates
  };
  struct Download {
    std::uint64_t message_id = 0;  // of the offer
    wire::TransferOfferT offer;
    Arriving arriving;
  };

  // Session
  void receive(const FrameReceived& event);
  void dispatch(const wire::Frame& frame, const FrameReceived& event);
  void follow(AgentConnection::Change change);
  void maintain_connection();
  void fail(std::string_view what, const Status& status);

  // Job and model
  void receive(const wire::Job& job);
  void receive(const wire::TransferOffer& offer, std::uint64_t message_id);
  void receive(const wire::TransferPart& part, ByteSpan payload);
  void finish_download();
  Status adopt(const Download& download);

  // Rounds
  void receive(const wire::Plan& plan);
  void begin(const std::shared_ptr<const RoundPlan>& plan);
  void begin_next();
  void contribute(std::uint32_t bucket);
  void end_round();
  void report();
  void receive(const wire::Aggregate& aggregate, ByteSpan payload);
  void close_stages(std::uint32_t bucket);
  TimeNs ask_after_ns() const;  // only valid during a session
  void ask_for_missing();
  void receive(const wire::Commit& commit);
  void try_commit();
  Status apply(const wire::CommitT& commit);
  void send_applied(const RoundKey& id);

  const std::uint32_t number_;
  const std::shared_ptr<SharedReplica> shared_;
  AgentContext context_;
  ClientSession session_{context_};
  AgentConnection connection_{context_, session_};
  AgentTelemetry telemetry_{context_, session_};
  Replica replica_{context_};  // its model is the shared one
  AgentPeers peers_{context_, replica_};
  RoundUpload upload_{context_, session_};
  AgentReporter reporter_{context_, session_};
  std::optional<Download> download_;
  std::unique_ptr<Round> round_;
  std::shared_ptr<const RoundPlan> next_plan_;  // waits for its model version; null: none
  PendingCommit commit_;
};

}  // namespace tributary
