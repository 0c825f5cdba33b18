// Checks conservation from outside: what the agent was given, less what of it is in committed
// rounds, is its residual. Reads the messages that come and go and decodes what was sent once more,
// beside the state machine and independently of it. Costs four times the model in memory, and some
// time.
//
// Rounds that went among peers show nobody what one agent gave: its payloads are sums on their way.
// There the auditor goes by the record that the machine stores before it says what the exchange
// came to (ContributionRecord), which costs it the model once more. So it checks that the residual
// is what that record has promised, and that nothing is lost or counted twice between rounds,
// commits and aborts; it does not check that the record is right about what the result has of this
// agent. That takes everybody's records and the result, as the simulator has them
// (core/sim/checks/ledger.h), and the hash of the results, on which all must agree, is what rounds
// themselves have instead.
//
// An account begins with the job; an agent that begins in the middle of one cannot be audited.
//
// Threads: one at a time.
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
  // Before the machine is handed the event.
  void before(const Event& event);
  // And after it: what it asks for, and how it stands.
  void after(const Actions& actions, const Agent& machine);

  // The largest error so far as a share of what rounding explains: 1 is the bound. Nothing: no
  // round was audited.
  std::optional<double> error_max() const;
  // The first thing that was wrong.
  const Status& status() const { return status_; }

 private:
  static constexpr std::size_t kRoundsMax = 8;

  struct AuditedRound {
    std::shared_ptr<const RoundPlan> plan;
    float weight = 1;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Reassembly> combined;  // by bucket, stage
    bool decided = false;
  };

  Status take_frame(const FrameReceived& received);
  Status take_job(const wire::Job& job);
  Status take_plan(const wire::Plan& plan);
  void take_aggregate(const wire::Aggregate& aggregate, ByteSpan payload);
  Status take_commit(const wire::Commit& commit);
  Status decide(const RoundKey& key, const Bitmap& contributed);
  Status commit_bucket(const AuditedRound& round, const PlannedBucket& bucket);
  Status commit_bucket_by_peers(const RoundKey& key, const PlannedBucket& bucket);
  void take_record(const ContributionRecord& record);
  void offer(Token token, const SharedFloats& update, std::uint64_t first);
  Status take_action(const Action& action);
  Status take_sent(const Send& sent);
  Status compare(const Agent& machine);
  void note(Status status);

  std::shared_ptr<const JobModel> job_;
  std::optional<Account> account_;
  CodecCache cache_;
  std::map<RoundKey, AuditedRound> rounds_;         // the last ones
  std::map<std::uint32_t, std::uint32_t> members_;  // this agent's place, by epoch
  std::optional<std::pair<Token, RoundKey>> training_;
  std::uint64_t missing_ = 0;  // of the update that is being computed: its first values
  double unit_ = 0;            // of the residual, as the machine has it
  std::uint64_t decided_ = 0;  // rounds
  std::uint64_t seen_version_ = UINT64_MAX;
  std::uint64_t seen_taken_ = UINT64_MAX;
  Status status_;
};

}  // namespace tributary
