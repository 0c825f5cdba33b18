// Collects violations of the invariants that every simulation checks. Not thread-safe. A violation
// does not end the simulation: the first ones are kept as text, and all are counted. Nothing here
// fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/round/common/machine/events.h"

namespace tributary {

struct Violation {
  std::string invariant;  // "conservation", "replicas", "commits", "bounds", "bytes", ...
  TimeNs at_ns = 0;       // virtual time
  std::string text;
};

class Watch {
 public:
  void report(TimeNs now, std::string invariant, std::string text) {
    ++count_;
    if (violations_.size() < kKeptMax) {
      violations_.push_back({std::move(invariant), now, std::move(text)});
    }
  }
  std::uint64_t count() const { return count_; }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  // Later violations mostly follow from the first ones, so they are only counted.
  static constexpr std::size_t kKeptMax = 20;

  std::uint64_t count_ = 0;
  std::vector<Violation> violations_;
};

}  // namespace tributary
