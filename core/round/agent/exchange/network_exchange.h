// An agent's part in an attempt with sums in the network: passes its levels of the last stage to
// the host, which exchanges them through the aggregator, makes the results' payloads from the sums,
// uploads this agent's segments of them, and combines what it sent and got for the
// linear check.
//
// The stages before the last go through the coordinator (Contribution), which also stores the
// residual that the round would leave before it adds the levels here. Buckets are exchanged in
// their order, the same at all agents. A failure withdraws the agent from the attempt. All
// references must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "core/round/agent/context/agent_context.h"
#include "core/round/agent/round/agent_round.h"
#include "core/round/agent/round/round_upload.h"
#include "core/round/agent/round/round_withdrawal.h"

namespace tributary {

class NetworkExchange {
 public:
  struct Parts {
    RoundUpload& upload;
    const RoundWithdrawal& withdrawal;
  };
  // `summed` is called when the last bucket has its result.
  NetworkExchange(AgentContext& context, const Parts& parts, std::function<void()> summed)
      : context_(context), parts_(parts), summed_(std::move(summed)) {}

  // Begins a round of any collective.
  void begin(AgentRound& round);
  // Ends the round; the host stops its exchanges.
  void end();

  // Exchanges this agent's payload of the last stage. Requires a round in the network.
  void add(Outgoing::Payload payload);
  // The host's answer; ignored if it is of another attempt.
  void take(const NetworkSummed& event);

  // True if every bucket has its results, also those that the coordinator adds.
  bool complete() const;
  // The hash of all results. Requires complete().
  std::uint64_t results_hash() const;
  // The combinations for the linear check. Requires complete().
  wire::SumsCheckT sums_check() const { return check_; }

 private:
  // A payload on its way through the aggregator.
  struct Sending {
    SharedBytes payload;
    bool passed_on = false;  // the host has it
  };
  void pass_on();
  void withdraw(Status status);
  void stop();

  AgentContext& context_;
  const Parts parts_;
  const std::function<void()> summed_;
  AgentRound* round_ = nullptr;  // null: none has begun
  TimeNs deadline_ns_ = 0;
  std::uint32_t next_ = 0;                    // the first bucket that was not passed on
  std::map<std::uint32_t, Sending> sending_;  // by bucket
  wire::SumsCheckT check_;
};

}  // namespace tributary
