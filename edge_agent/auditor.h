// Checks conservation from outside the state machine: the agent's updates minus what committed
// rounds contain of them must equal the residual.
//
// The auditor reads the messages that the agent receives and sends, and decodes the sent payloads
// once more, independently of the state machine. It costs memory of four times the model, and the
// time of the decoding.
//
// In a round among peers, the payloads are sums of several agents, so they do not show one agent's
// part. Neither do those of a codec that keeps no error. The auditor then uses the record that the
// state machine stores before it reports the result of the exchange (ContributionRecord). It
// verifies that the residual matches the record, and that rounds, commits and aborts lose nothing
// and count nothing twice. It does not verify that the record agrees with the result. That would
// need the records of all agents, which the simulator has (core/sim/checks/ledger.h). Instead, all
// agents compare the hash of the results in each round.
//
// The account starts with the job. An agent that joins a job later cannot be audited.
//
// Threads: all methods belong to one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/round/agent/agent.h"
#include "core/round/audit/account.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/reassembly.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class Auditor {
 public:
  // Call it before the state machine handles `event`.
  void before(const Event& event);
  // Call it with the resulting actions and the state machine after the event.
  void after(const Actions& actions, const Agent& machine);

  // Largest error so far, relative to the bound that rounding explains; 1 is the bound. Empty: no
  // round was audited.
  std::optional<double> error_max() const;
  // The first violation, or ok.
  const Status& status() const { return status_; }

 private:
  static constexpr std::size_t kRoundsMax = 8;

  struct AuditedRound {
    std::shared_ptr<const RoundPlan> plan;
    float weight = 1;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Reassembly> combined;  // by bucket and stage
    bool decided = false;
  };

  // The values of an update that the machine has not taken yet.
  struct Missing {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
  };
  // An update that was trained before its plan arrived.
  struct Ahead {
    std::uint64_t round = 0;
    SharedFloats update;
    Missing missing;
  };

  Status take_frame(const FrameReceived& received);
  Status take_job(const wire::Job& job);
  Status take_plan(const wire::Plan& plan);
  void take_aggregate(const wire::Aggregate& aggregate, ByteSpan payload);
  Status take_commit(const wire::Commit& commit);
  Status decide(const RoundKey& key, const Bitmap& contributed);
  Status commit_bucket(const AuditedRound& round, const PlannedBucket& bucket);
  Status commit_recorded_bucket(const RoundKey& key, const PlannedBucket& bucket);
  void take_record(const ContributionRecord& record);
  SharedFloats bounded(const SharedFloats& update) const;
  void offer(Token token, const SharedFloats& update, std::uint64_t first);
  const AuditedRound* round_of_training() const;
  void offer_weighted(const SharedFloats& update, const Missing& missing, float weight);
  Status take_action(const Action& action);
  Status take_sent(const Send& sent);
  Status compare(const Agent& machine);
  void note(Status status);

  std::shared_ptr<const JobModel> job_;
  std::optional<Account> account_;
  CodecCache cache_;
  std::map<RoundKey, AuditedRound> rounds_;  // the most recent ones, up to kRoundsMax
  // This agent's index among the members, by epoch of the job.
  std::map<std::uint32_t, std::uint32_t> members_;
  std::optional<std::pair<Token, RoundKey>> training_;
  std::optional<Ahead> ahead_;
  // Number of leading values of the current update that the machine has not taken yet.
  std::uint64_t missing_ = 0;
  double unit_ = 0;            // scale of the machine's residual
  std::uint64_t decided_ = 0;  // number of decided rounds
  // State of the machine at the last comparison.
  std::uint64_t seen_version_ = UINT64_MAX;
  std::uint64_t seen_taken_ = UINT64_MAX;
  Status status_;
};

}  // namespace tributary
