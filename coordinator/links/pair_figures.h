// The links between agents, as the agents report them: the last report of each link and its age.
//
// Agents measure these links on the payloads that they exchange, because the coordinator cannot see
// that traffic. Times are passed in seconds of one monotonic clock. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/link_quality/link_estimator.h"
#include "core/round/common/machine/actions.h"

namespace tributary {

// The measurements of one link between two agents, in one direction.
struct PairFigure {
  std::string from;
  std::string to;  // the agent that measured it
  MeasuredLink measured;
};

class PairFigures {
 public:
  // If `pairs_max` links are known, a new one replaces the one with the oldest report.
  explicit PairFigures(std::size_t pairs_max = 16 * 1024) : pairs_max_(pairs_max) {}

  // Stores the valid values and returns them. Invalid values are dropped and counted.
  std::vector<PairFigure> take(double now_s, const LinksReported& reported);

  // Returns up to `count_max` links, the lowest rate first and unknown rates last.
  std::vector<PairFigure> slowest(double now_s, std::size_t count_max) const;
  // Confidence decreases with the age of the report.
  MeasuredLink measured(const std::string& from, const std::string& to, double now_s) const;
  std::size_t size() const { return pairs_.size(); }
  std::uint64_t ignored() const { return ignored_; }

 private:
  struct Quantity {
    LinkQuantity reported;  // value and age at the time of the report
    double reported_at_s = 0;
    LinkQuantity at(double now_s) const;
  };
  struct Pair {
    Quantity alpha_s;
    Quantity beta_s_per_byte;
    std::uint64_t last_reading = 0;
  };
  static MeasuredLink measured(const Pair& pair, double now_s);
  Pair& pair(const std::string& from, const std::string& to);

  std::size_t pairs_max_;
  std::map<std::pair<std::string, std::string>, Pair> pairs_;
  std::uint64_t readings_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace tributary
