// Passes commands from the machine's thread to the thread of an aggregator link: the buckets to sum
// and the epoch of each.
//
// Thread rule: the machine's thread calls sum(), stop() and end(); the link's thread calls the
// rest. Everything that the link's thread must look at signals the waker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "core/net/waker.h"
#include "core/round/common/machine/actions.h"

namespace tributary {

class AggregatorCommands {
 public:
  // `waiting_bytes_max` bounds the levels that the link's thread has not taken. The waker must
  // outlive the object.
  AggregatorCommands(std::size_t waiting_bytes_max, const Waker& waker)
      : waiting_bytes_max_(waiting_bytes_max), waker_(waker) {}

  // Queues a bucket. If it belongs to another epoch than the one before, that epoch ends and its
  // waiting buckets are dropped. Beyond the bound, a bucket is queued without its levels.
  void sum(SumInNetwork bucket);
  // Drops the waiting buckets, if the newest bucket belongs to this attempt.
  void stop(const RoundKey& id);
  // Asks the link's thread to end.
  void end();

  // The first bucket of an epoch, without its levels, describes the epoch.
  struct NextEpoch {
    std::uint64_t number = 0;  // counts the epochs
    SumInNetwork epoch;
  };
  // Waits for an epoch with another number than `seen`. Returns nothing if the thread must end.
  std::optional<NextEpoch> next_epoch(std::uint64_t seen);

  struct Waiting {
    SumInNetwork bucket;
    bool beyond_bound = false;
  };
  struct Work {
    bool stopped = false;  // everything that was taken before ends without an event
    bool dropped = false;  // and so have buckets that were not taken
    std::vector<Waiting> buckets;
  };
  // Returns the work since the last call, or nothing if the epoch is over.
  std::optional<Work> take(std::uint64_t number);

 private:
  const std::size_t waiting_bytes_max_;
  const Waker& waker_;
  std::mutex mutex_;
  bool ending_ = false;
  std::uint64_t number_ = 0;
  std::optional<SumInNetwork> epoch_;  // the newest bucket, without its levels
  Work work_;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace tributary
