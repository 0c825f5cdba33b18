// One direction of a true link: its rate and latency over virtual time, as steps that repeat.
//
// Immutable after construction, so threads may share it. All times are seconds from the start of
// the run. A call costs a search among the steps and visits the steps that a transfer spans.
#pragma once

#include <limits>
#include <vector>

namespace tributary {

// Holds for `seconds`. Rate 0: no limit.
struct LinkStep {
  double seconds = 0;
  double rate_mbit_s = 0;
  double delay_ms = 0;  // one way

  friend bool operator==(const LinkStep&, const LinkStep&) = default;
};

class LinkLine {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  // No limit and no latency, for ever.
  LinkLine() : LinkLine(std::vector<LinkStep>{{.seconds = 1}}) {}
  // Begins `offset_s` into the steps. Every step must last longer than 0.
  explicit LinkLine(const std::vector<LinkStep>& steps, double offset_s = 0);

  double seconds_per_byte(double at_s) const { return stage_at(at_s).s_per_byte; }
  double latency_s(double at_s) const { return stage_at(at_s).latency_s; }
  // Returns the time at which `bytes` that begin to be sent at `from_s` have left. A transfer that
  // spans a change continues at the new rate.
  double sent_at(double from_s, double bytes) const;
  // Returns the end of the step in force at `at_s`, or kNever if no other step follows.
  double next_change_s(double at_s) const;
  // Returns a line that keeps the state of `at_s` for ever.
  LinkLine frozen(double at_s) const;

 private:
  struct Stage {
    double ends_s = 0;  // from the beginning of the steps
    double s_per_byte = 0;
    double latency_s = 0;
  };

  const Stage& stage_at(double at_s) const;
  double place_of(double at_s) const;

  std::vector<Stage> stages_;
  double offset_s_ = 0;
};

}  // namespace tributary
