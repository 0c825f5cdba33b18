// An agent that costs a load generator next to nothing: its own connection, session, place in the
// rounds and view of what has arrived, and no replica, residual or encoder (shared_replica.h). It
// speaks the whole protocol, loses nothing when its session breaks, and has no journal.
//
// Threads: one at a time; agents of several threads may share a replica.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes/byte_ranges.h"
#include "core/round/agent/round/outgoing.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/session/conversation.h"
#include "tools/load/shared_replica.h"

namespace tributary {

class LightAgent {
 public:
  struct Options {
    std::string agent_id;
    std::uint64_t incarnation = 1;
    std::uint32_t number = 0;  // among those who share
    std::shared_ptr<SharedReplica> replica;
  };
  explicit LightAgent(Options options) : options_(std::move(options)) {}

  Actions handle(TimeNs now, const Event& event);
  TimeNs next_wakeup_ns() const;
  bool idle() const { return !talk_ || talk_->unanswered() == 0; }
  std::uint64_t model_version() const { return model_.version; }
  std::uint64_t model_hash() const { return model_.hash; }

 private:
  enum class Line { offline, greeting, online };

  // In the newest epoch that this agent was told of.
  struct Place {
    std::uint32_t epoch = 0;
    std::uint32_t member = 0;
  };
  // A plan as this agent was sent it: what of it differs from the others'.
  struct OwnPlan {
    std::shared_ptr<SharedRound> shared;
    double weight = 0;
    std::vector<double> shares = {};  // of what it keeps, by exchange
  };
  // Of a stage that is on its way back, or has come.
  struct Arriving {
    std::shared_ptr<SharedPayload> payload;
    std::uint64_t bytes = 0;
    ByteRanges received;
    SharedBytes whole;
  };
  struct Round {
    std::shared_ptr<SharedRound> shared;
    std::optional<std::uint32_t> member;  // none: it only follows
    double weight = 0;
    std::vector<double> shares = {};
    Outgoing outgoing;
    std::uint64_t bytes_up = 0;
    std::vector<std::vector<Arriving>> stages;       // by bucket
    std::vector<std::vector<SharedBytes>> combined;  // by bucket, those before the first gap
    bool reported = false;
    TimeNs ask_at_ns = kNever;

    const RoundPlan& plan() const { return *shared->plan; }
  };
  struct Download {
    std::uint64_t message_id = 0;
    wire::TransferOfferT offer;
    std::shared_ptr<SharedPayload> payload;
    ByteRanges received;
  };

  void receive(const FrameReceived& event);
  void dispatch(const wire::Frame& frame, ByteSpan payload);
  void say_hello();
  void hang_up();
  void answer(std::uint64_t message_id);
  void look_after_connection();
  void receive_job(const wire::Job& job);
  void receive_offer(const wire::TransferOffer& offer, std::uint64_t message_id);
  void receive_part(const wire::TransferPart& part, ByteSpan payload);
  void finish_download();
  void receive_plan(const wire::Plan& plan);
  void begin_plan(OwnPlan own);
  void contribute(std::uint32_t bucket);
  Outgoing::Session upload();
  void end_round();
  void report();
  void receive_aggregate(const wire::Aggregate& aggregate, ByteSpan payload);
  void ask_for_missing();
  void receive_commit(const wire::Commit& commit);
  void try_commit();
  void send_applied();
  void fail(std::string_view what, const Status& status);

  const Options options_;
  TimeNs now_ = 0;
  Actions out_;
  Line line_ = Line::offline;
  std::optional<Conversation> talk_;
  std::uint64_t hello_id_ = 0;
  TimeNs hello_at_ns_ = 0;

  std::shared_ptr<const JobModel> job_;
  SharedModel model_;
  Place place_;
  std::optional<Download> download_;
  std::unique_ptr<Round> round_;
  std::optional<OwnPlan> next_plan_;  // its model is not here yet
  std::unique_ptr<wire::CommitT> commit_;
  RoundKey applied_;
};

}  // namespace tributary
