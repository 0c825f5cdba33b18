// Checks conservation for one agent: the updates that it was given, less what of them has been
// committed, equal its residual. The account is kept from the agent's events and actions alone, and
// not from its own state. The simulator keeps one for each agent; so does the agent's auditor.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes/byte_ranges.h"
#include "core/round/agent/agent.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class Account {
 public:
  explicit Account(std::uint64_t values);

  // An update was handed to the agent, which may take it or drop it.
  void offer(SharedFloats update) { offered_ = std::move(update); }

  // A part of a payload of the last stage has been sent. Parts may overlap, and differ in size from
  // those sent before. An error where bytes contradict what was sent before under the same address,
  // or a part does not fit into its payload.
  Status sent(const RoundKey& key, const wire::Part& part, const PayloadSlice& payload);

  // The whole payload that was sent for this bucket; empty where none was.
  ByteSpan payload(const RoundKey& key, std::uint32_t bucket) const;

  // Among peers nobody else sees what an agent gives: its own record of the bucket says it. The
  // last one counts.
  struct Given {
    FloatVector values;
    double magnitude_max = 0;  // of what they are the difference of
  };
  void gave(const RoundKey& key, std::uint32_t bucket, Given given);
  // Null: there is no record.
  const Given* given(const RoundKey& key, std::uint32_t bucket) const;

  // What a committed round has in it of this agent. An error where the agent has settled that round
  // against itself already.
  Status committed(const RoundKey& key, std::uint64_t first_value, FloatVector decoded);
  // No other attempt at this round will be committed.
  void round_is_decided(const RoundKey& key);

  // Of rounds up to this one nothing will be asked any more, where no account is kept.
  void forget(const RoundKey& key);

  // The residual is in other units from now on. Contributions that are decided were in the old
  // ones.
  void rescale(double factor, const std::vector<UndecidedRound>& undecided);

  // The agent says how many updates it has taken, ever; fewer than before after a crash.
  Status take(std::uint64_t updates_taken, bool restarted);
  // What the agent has stored as taken cannot be lost any more.
  void stored(std::uint64_t updates_taken) { durable_ = std::max(durable_, updates_taken); }
  std::uint64_t taken() const { return taken_; }

  // Compares with the agent's residual, which is that of all rounds but `undecided`.
  Status check(const float* residual, const std::vector<UndecidedRound>& undecided);
  // The largest difference seen, as a share of its bound.
  double error_max() const { return error_max_; }
  std::size_t open_contributions() const { return contributions_.size(); }

 private:
  struct Payload {
    ByteSpan view() const { return assembled.empty() ? whole.bytes : ByteSpan(assembled); }

    PayloadSlice whole;  // if its first part was all of it: not copied
    Bytes assembled;     // otherwise
    ByteRanges there;
    std::optional<std::uint64_t> bytes;  // of all of it; none before the first part
  };
  struct Contribution {
    std::map<std::uint32_t, Payload> payloads;                   // by bucket
    std::map<std::uint32_t, Given> given;                        // the same
    std::vector<std::pair<std::uint64_t, FloatVector>> decoded;  // committed: place and values
  };

  void settle(const std::vector<UndecidedRound>& undecided);
  // Contributions that were settled, and are not any more: a crash came before that was stored.
  void unsettle(const std::vector<UndecidedRound>& undecided);
  void give(const Contribution& contribution, double sign);
  void add(std::span<const float> update, double sign);

  std::vector<double> open_;   // given to it, less what was committed
  std::vector<double> moved_;  // the sum of all magnitudes: what the bound grows with
  std::uint64_t taken_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t settled_ = 0;  // contributions
  SharedFloats offered_;
  std::deque<SharedFloats> recent_;  // the last ones taken, for a crash that undoes them
  std::map<RoundKey, Contribution> contributions_;
  std::map<RoundKey, Contribution> settled_lately_;
  std::set<RoundKey> settled_against_;
  double error_max_ = 0;
};

// Of a record of an exchange among peers: the residual with the round's update in it, less what is
// to be left of it.
Account::Given given_away(const ContributionRecord& record, const ContributionPart& part);

}  // namespace tributary
