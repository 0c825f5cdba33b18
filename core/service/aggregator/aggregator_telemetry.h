// The counters of an aggregator link. Thread-safe: the link's thread writes, any thread reads.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/collective/in_network/packet.h"

namespace tributary {

struct AggregatorCounters {
  std::uint64_t buckets_summed = 0;
  std::uint64_t buckets_failed = 0;
  std::uint64_t packets_out = 0;  // contributions, with repeats
  std::uint64_t repeats = 0;
  std::uint64_t packets_in = 0;
  // Packets that were not used, by in_network::DropReason. `foreign` includes other senders.
  std::array<std::uint64_t, in_network::kDropReasons> ignored = {};
};

class AggregatorTelemetry {
 public:
  void set(const AggregatorCounters& counters) {
    const std::lock_guard lock(mutex_);
    counters_ = counters;
  }
  AggregatorCounters counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
  }

  // Keeps the first fault of a packet until it is taken.
  void fault(Status why) {
    const std::lock_guard lock(mutex_);
    if (!fault_) fault_ = std::move(why);
  }
  std::optional<Status> take_fault() {
    const std::lock_guard lock(mutex_);
    return std::exchange(fault_, std::nullopt);
  }

 private:
  mutable std::mutex mutex_;
  AggregatorCounters counters_;
  std::optional<Status> fault_;
};

}  // namespace tributary
