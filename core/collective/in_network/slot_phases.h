// The rules of one slot, without its sums: which packet of which phase counts.
//
// A slot knows two phases: `cur`, to which agents contribute, and `prev`, whose result is kept for
// agents that have missed it. Agents move on only after a result, so without faults none of them
// lags by more than one phase. Every packet may be lost, repeated or overtaken.
//
// Pure, small enough to be copied; not thread-safe. The exhaustive exploration runs this type.
#pragma once

#include <bit>
#include <cstdint>

#include "core/collective/in_network/packet.h"

namespace tributary::in_network {

// Whether an epoch is served. A restarted aggregator has no epoch: it refuses everything until the
// coordinator installs a new one. Without that rule, agents of different phases would wait for each
// other for ever.
constexpr DropReason check_epoch(bool installed, std::uint32_t epoch, std::uint32_t of_packet) {
  if (!installed) return DropReason::unknown_job;
  if (of_packet < epoch) return DropReason::old_epoch;
  if (of_packet > epoch) return DropReason::future_epoch;
  return DropReason::none;
}

// Whether the sender of a dropped contribution is told, so that it takes another path. A future
// epoch is installed soon, and repeats are answered by then. The other faults are not the agent's,
// and an answer would only help a sender of forged packets.
constexpr bool is_refused(DropReason reason) {
  return reason == DropReason::unknown_job || reason == DropReason::old_epoch ||
         reason == DropReason::unknown_phase;
}

enum class SlotStep : std::uint8_t {
  drop,
  start,            // a new phase begins with this contribution
  add,              // to the current phase
  nothing,          // a repeat in a phase that is not complete
  resend_current,   // a repeat in a complete phase: its result, to the sender
  resend_previous,  // the sender has missed a result
};

class SlotPhases {
 public:
  struct Decision {
    SlotStep step;
    DropReason reason = DropReason::none;  // if step == drop
  };

  // Decides about a contribution of an agent, without any change. `epoch` is the job's; a slot of
  // another epoch is empty. Without that rule, a repeat of the last epoch would be added.
  Decision decide(std::uint32_t epoch, std::uint32_t sequence) const {
    if (!used_ || epoch_ != epoch) {
      if (sequence != 0) return {SlotStep::drop, DropReason::unknown_phase};
      return {SlotStep::start};
    }
    if (sequence == current_) return {SlotStep::add};
    if (has_previous_ && sequence == current_ - 1) return {SlotStep::resend_previous};
    if (sequence < current_) return {SlotStep::drop, DropReason::replayed};
    if (sequence == current_ + 1 && complete()) return {SlotStep::start};
    return {SlotStep::drop, DropReason::early};
  }
  Decision decide(std::uint32_t epoch, std::uint32_t sequence, std::uint32_t agent) const {
    const Decision decision = decide(epoch, sequence);
    if (decision.step != SlotStep::add || (contributors_ >> agent & 1) == 0) return decision;
    return {complete() ? SlotStep::resend_current : SlotStep::nothing};
  }

  // Takes a contribution for which decide() returned `start` or `add`.
  void start(std::uint32_t epoch, std::uint32_t sequence, std::uint32_t agent,
             std::uint32_t agents) {
    has_previous_ = used_ && epoch_ == epoch;
    used_ = true;
    epoch_ = epoch;
    current_ = sequence;
    agents_ = static_cast<std::uint8_t>(agents);
    contributors_ = std::uint64_t{1} << agent;
  }
  void add(std::uint32_t agent) { contributors_ |= std::uint64_t{1} << agent; }
  // Forgets everything, for a new owner.
  void clear() { *this = SlotPhases(); }

  // All agents have contributed to the current phase.
  bool complete() const { return static_cast<unsigned>(std::popcount(contributors_)) == agents_; }
  std::uint64_t contributors() const { return contributors_; }

  friend bool operator==(const SlotPhases&, const SlotPhases&) = default;

 private:
  std::uint64_t contributors_ = 0;  // to the current phase
  std::uint32_t epoch_ = 0;
  std::uint32_t current_ = 0;
  std::uint8_t agents_ = 0;
  bool used_ = false;
  bool has_previous_ = false;  // the phase before the current one, which is always complete
};

// An agent's side of one slot. It moves on only after the result with exactly its sequence.
class SlotTurn {
 public:
  void enter(std::uint32_t epoch) { *this = SlotTurn(epoch); }
  // The sequence of the next or the waiting contribution.
  std::uint32_t sequence() const { return sequence_; }
  std::uint32_t epoch() const { return epoch_; }
  bool waiting() const { return waiting_; }
  void contribute() { waiting_ = true; }
  bool accepts(std::uint32_t epoch, std::uint32_t sequence) const {
    return waiting_ && epoch == epoch_ && sequence == sequence_;
  }
  // Requires accepts().
  void move_on() {
    waiting_ = false;
    ++sequence_;
  }

  SlotTurn() = default;
  friend bool operator==(const SlotTurn&, const SlotTurn&) = default;

 private:
  explicit SlotTurn(std::uint32_t epoch) : epoch_(epoch) {}

  std::uint32_t epoch_ = 0;
  std::uint32_t sequence_ = 0;
  bool waiting_ = false;
};

}  // namespace tributary::in_network
