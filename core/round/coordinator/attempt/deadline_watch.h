// Compares the deadline of a running attempt with the measured rates of its members' links, and
// notes once that the attempt cannot end in time.
//
// A check runs one second after the first part that no check has seen, so an attempt without
// traffic costs nothing. Exchanges among peers are not checked, because their payloads do not pass
// the coordinator. Not thread-safe.
#pragma once

#include <optional>
#include <utility>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/attempt/deadline_check.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class DeadlineWatch {
 public:
  // All references must outlive the object.
  DeadlineWatch(const JobContext& job, const Membership& membership, const ActiveRound& round)
      : job_(job), membership_(membership), round_(round) {}

  // The plan was sent. Schedules a check if members still receive data that they need before they
  // begin.
  void start();
  // A part has arrived. Schedules a check.
  void part_arrived();
  // Runs the check if it is due.
  void check();
  TimeNs next_due_ns() const { return check_at_ns_; }
  // Empty if the deadline fits as far as known.
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
