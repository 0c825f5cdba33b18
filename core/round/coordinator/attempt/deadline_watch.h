// Compares the deadline of a running attempt with the measured rates of its members' links, and
// reports once that the attempt cannot end in time.
//
// Checks happen a second after the first part that was not checked yet, so that an attempt without
// traffic costs nothing. By peers nothing is checked: their payloads do not pass here.
#pragma once

#include <optional>
#include <utility>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/attempt/deadline_check.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class DeadlineWatch {
 public:
  // All three outlive it.
  DeadlineWatch(const JobContext& job, const Membership& membership, const ActiveRound& round)
      : job_(job), membership_(membership), round_(round) {}

  // The plan has been sent: members may be waiting for what they need before they can begin.
  void start();
  void part_arrived();
  void check();
  TimeNs next_due_ns() const { return check_at_ns_; }
  // Nothing: the deadline fits, as far as is known.
  const std::optional<DeadlineVerdict>& verdict() const { return too_short_; }

 private:
  bool waits_for_downlinks() const;
  DeadlineInput input() const;

  const JobContext& job_;
  const Membership& membership_;
  const ActiveRound& round_;
  TimeNs check_at_ns_ = kNever;
  std::optional<DeadlineVerdict> too_short_;
};

}  // namespace tributary
