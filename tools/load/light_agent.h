// An agent for a load generator: the production agent's connection, session, uploads and reports,
// with large values that all agents of the process share (shared_replica.h). It has no residual, no
// encoder and no journal.
//
// It differs from Agent in where payloads and models are: parts that arrive go to shared memory,
// and payloads and models are made once for all. An agent that is sent something that differs from
// what the others were sent ends with an error.
//
// Threads: one at a time; agents of several threads may share a replica.
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
    std::uint32_t number = 0;  // among those who share
    std::shared_ptr<SharedReplica> shared;
  };
  explicit LightAgent(Options options)
      : number_(options.number),
        shared_(std::move(options.shared)),
        context_(std::move(options.config)) {}

  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;
  bool idle() const { return session_.idle(); }
  std::uint64_t model_version() const { return replica_.version(); }
  std::uint64_t model_hash() const { return replica_.id().hash; }

 private:
  // A payload of which this agent has received these bytes.
  struct Arriving {
    std::shared_ptr<SharedPayload> payload;
    ByteRanges received;
    SharedBytes whole;  // null until all of it has come
  };
  struct Round {
    Round(std::shared_ptr<const RoundPlan> plan, std::shared_ptr<SharedRound> shared_round)
        : own(std::move(plan)), shared(std::move(shared_round)) {}

    AgentRound own;
    std::shared_ptr<SharedRound> shared;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Arriving> arriving;  // by bucket and stage
    RepeatTimer ask;  // for aggregates that do not come
  };
  struct Download {
    std::uint64_t message_id = 0;  // of the offer
    wire::TransferOfferT offer;
    Arriving arriving;
  };

  // --- session ---
  void receive(const FrameReceived& event);
  void dispatch(const wire::Frame& frame, const FrameReceived& event);
  void follow(AgentConnection::Change change);
  void look_after_connection();
  void fail(std::string_view what, const Status& status);

  // --- job and model ---
  void receive(const wire::Job& job);
  void receive(const wire::TransferOffer& offer, std::uint64_t message_id);
  void receive(const wire::TransferPart& part, ByteSpan payload);
  void finish_download();
  Status adopt(const Download& download);

  // --- rounds ---
  void receive(const wire::Plan& plan);
  void begin(const std::shared_ptr<const RoundPlan>& plan);
  void begin_next();
  void contribute(std::uint32_t bucket);
  void end_round();
  void report();
  void receive(const wire::Aggregate& aggregate, ByteSpan payload);
  void close_stages(std::uint32_t bucket);
  TimeNs ask_after_ns() const;  // only while a session is open
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
  std::shared_ptr<const RoundPlan> next_plan_;  // its model is not here yet; null: none
  PendingCommit commit_;
};

}  // namespace tributary
