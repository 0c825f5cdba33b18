// The links of one member to others, each with an estimator. Pure: the caller supplies the times.
// Used by one thread; add() costs a lookup and one reading, slowest() a fit per link.
//
// add() never fails and never allocates more than its capacity: readings of unknown members beyond
// it push out the link that has been silent longest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/link_quality/link_estimator.h"

namespace tributary {

class LinkTable {
 public:
  // Capacity of the table; a link takes 2 KiB. A new member replaces the one without readings for
  // the longest time.
  explicit LinkTable(std::size_t members_max = 4096) : members_max_(members_max) {}

  void add(std::string_view member, const LinkTransfer& transfer);
  // Removes a member that reconnects from another place, or that has left.
  void forget(std::string_view member);

  MeasuredLink measured(std::string_view member, double now_s) const;
  // The link that an exchange must assume: the highest latency and the lowest rate among those
  // known with at least this confidence. Empty if no member's latency, or no member's rate, is
  // known.
  std::optional<LinkEstimate> slowest(double now_s, double confidence_min) const;

  std::size_t size() const { return links_.size(); }
  const LinkEstimator* find(std::string_view member) const;

 private:
  struct Link {
    LinkEstimator estimator;
    std::uint64_t last_reading = 0;  // value of added_ at the last reading
  };

  std::map<std::string, Link, std::less<>> links_;
  std::size_t members_max_;
  std::uint64_t added_ = 0;
};

}  // namespace tributary
