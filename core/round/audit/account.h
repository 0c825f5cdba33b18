// Verifies conservation for one agent: the sum of its updates minus its committed contributions
// minus the values that it has dropped must equal its residual.
//
// The account is computed only from the agent's events and actions, not from its state, so that it
// detects errors of the agent. The simulator keeps one account per agent, and the agent's auditor
// keeps one as well. Errors have the code mismatch.
//
// Memory: two doubles per value of the model, plus references to the last 16 updates, and the
// payloads of undecided and of the last 16 settled contributions. Not thread-safe.
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
  // `values` is the number of values in the model.
  explicit Account(std::uint64_t values);

  // The host passed this update to the agent, which may take or drop it.
  void offer(SharedFloats update) { offered_ = std::move(update); }

  // The agent has dropped values; `change` is what that has added to its residual. It counts as an
  // update that the agent has taken for certain.
  void dropped(SharedFloats change) { dropped_.push_back(std::move(change)); }

  // The agent sent a part of a payload of the last stage. Parts may overlap and may have other
  // sizes than before. Returns mismatch if bytes differ from those sent before at the same address,
  // or if a part does not fit into its payload. With `encoded_round` above 0, the payload continues
  // one that was sent in an earlier round.
  Status sent(const RoundKey& key, const wire::Part& part, const PayloadSlice& payload,
              std::uint64_t encoded_round);

  // The whole payload that was sent for this bucket; empty if it is not complete.
  ByteSpan payload(const RoundKey& key, std::uint32_t bucket) const;

  // The contribution to a bucket in an exchange among peers. No other party sees it, so it is
  // computed from the agent's own record. The last record counts.
  struct Given {
    FloatVector values;
    double magnitude_max = 0;  // of the two terms whose difference it is
  };
  void gave(const RoundKey& key, std::uint32_t bucket, Given given);
  // Null if there is no record.
  const Given* given(const RoundKey& key, std::uint32_t bucket) const;

  // A committed round contains these values of this agent. Returns mismatch if the agent has
  // already settled that round as excluded.
  Status committed(const RoundKey& key, std::uint64_t first_value, FloatVector decoded);
  // The round is decided: no other attempt at it will be committed.
  void round_is_decided(const RoundKey& key);

  // Drops the contributions to all rounds up to this one, if no account of them is needed. The
  // payloads of the last 16 stay, because later rounds may continue them.
  void forget(const RoundKey& key);

  // The residual changes its units by this factor. Contributions that are decided by now were in
  // the old units.
  void rescale(double factor, const std::vector<UndecidedRound>& undecided);

  // A power failure may have undone records of the agent, so that it has dropped its residual and
  // everything undecided. It has taken this number of updates. The values that were open are a term
  // of the account from now on (written_off()), also if a contribution with them still counts.
  void write_off(std::uint64_t updates_taken);
  // Sum of the magnitudes of all values that were written off.
  double written_off() const { return written_off_; }
  // A power failure has undone the commit of this round. An agent that has settled its contribution
  // has lost it; another one finds out that it does not count.
  void revoked(const RoundKey& key);

  // The agent reports the total number of updates that it has taken. After a crash (`restarted`) it
  // may be lower than before, but not lower than the stored number.
  Status take(std::uint64_t updates_taken, bool restarted);
  // The agent has stored this number of updates as taken, so that a crash cannot undo them.
  void stored(std::uint64_t updates_taken) { durable_ = std::max(durable_, updates_taken); }
  // The agent has stored what remains of a contribution that contains this number of updates. If a
  // crash undoes some of them and the contribution counts, the agent has taken them after all, in
  // the buckets that count. In the other buckets they are lost.
  void stored_contribution(const RoundKey& key, std::uint64_t updates_taken) {
    contribution(key).updates = updates_taken;
  }
  std::uint64_t taken() const { return taken_; }
  // The last updates taken, newest last, at most 16.
  const std::deque<SharedFloats>& recent() const { return recent_; }

  // Compares the account with the agent's residual, which includes all rounds except `undecided`.
  // Null: zeros.
  Status check(const float* residual, const std::vector<UndecidedRound>& undecided);
  // The largest difference so far, as a share of its bound.
  double error_max() const { return error_max_; }
  std::size_t open_contributions() const { return contributions_.size(); }

 private:
  // A payload of a last stage, as far as it was sent.
  struct Payload {
    ByteSpan view() const { return assembled.empty() ? whole.bytes : ByteSpan(assembled); }

    PayloadSlice whole;  // without a copy, if the first part was the whole payload
    Bytes assembled;     // in all other cases
    ByteRanges there;
    std::optional<std::uint64_t> bytes;  // of the whole payload; empty before the first part
  };
  // All that the agent has contributed to one attempt.
  struct Contribution {
    std::map<std::uint32_t, Payload> payloads;  // by bucket
    std::map<std::uint32_t, Given> given;       // by bucket
    // Committed values and their position.
    std::vector<std::pair<std::uint64_t, FloatVector>> decoded;
    std::uint64_t updates = 0;  // number of updates taken that it contains; 0: not stored
    // Those that the end of the process has undone, and the number of updates before them.
    std::vector<SharedFloats> undone;
    std::uint64_t undone_after = 0;
    bool written_off = false;  // the agent knows nothing of it any more
    bool revoked = false;      // was settled as counted, and the commit was lost later
  };

  // The one of this key, settled or not; created if there is none.
  Contribution& contribution(const RoundKey& key);
  void continue_payload(const RoundKey& key, std::uint32_t bucket, std::uint64_t encoded_round);
  void settle(const std::vector<UndecidedRound>& undecided);
  // Reverts contributions that were settled and are undecided again, because a crash came before
  // the settlement was stored.
  void unsettle(const std::vector<UndecidedRound>& undecided);
  void keep_settled(std::map<RoundKey, Contribution>::iterator contribution);
  void give(const Contribution& contribution, double sign);
  void add(std::span<const float> update, double sign);
  void take_one(SharedFloats update);
  void take_undone(std::uint64_t updates_taken);
  void undo(std::uint64_t updates_taken);

  std::vector<double> open_;   // sum of updates minus committed contributions
  std::vector<double> moved_;  // sum of all magnitudes, to which the bound is proportional
  std::uint64_t taken_ = 0;
  std::uint64_t durable_ = 0;
  std::uint64_t settled_ = 0;  // number of contributions
  SharedFloats offered_;
  std::vector<SharedFloats> dropped_;  // since the last take()
  std::deque<SharedFloats> recent_;    // the last ones taken, for a crash that undoes them
  std::map<RoundKey, Contribution> contributions_;
  std::map<RoundKey, Contribution> settled_lately_;
  std::set<RoundKey> settled_against_;
  double error_max_ = 0;
  double written_off_ = 0;
};

// The contribution in a record of an exchange among peers: the residual with the round's update,
// minus the residual that remains if the round counts.
Account::Given given_away(const ContributionRecord& record, const ContributionPart& part);

}  // namespace tributary
