// What one member knows of its links to others. Pure: times are handed in.
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
  // Of as many members: 2 KiB each. Another one takes the place of who was heard longest ago.
  explicit LinkTable(std::size_t members_max = 4096) : members_max_(members_max) {}

  void add(std::string_view member, const LinkTransfer& transfer);
  // Of a member that comes back from somewhere else, or not at all.
  void forget(std::string_view member);

  MeasuredLink measured(std::string_view member, double now_s) const;
  // What an exchange has to reckon with: the longest latency and the lowest rate of those that are
  // known with this confidence. Nothing: there is none of one of them.
  std::optional<LinkEstimate> slowest(double now_s, double confidence_min) const;

  std::size_t size() const { return links_.size(); }
  const LinkEstimator* find(std::string_view member) const;

 private:
  struct Link {
    LinkEstimator estimator;
    std::uint64_t heard = 0;  // counts what was added to any
  };

  std::map<std::string, Link, std::less<>> links_;
  std::size_t members_max_;
  std::uint64_t added_ = 0;
};

}  // namespace tributary
