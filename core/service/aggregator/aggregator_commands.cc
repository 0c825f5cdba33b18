#include "core/service/aggregator/aggregator_commands.h"

#include <chrono>
#include <utility>

namespace tributary {

void AggregatorCommands::sum(SumInNetwork bucket) {
  Work dropped;  // its memory is released without the lock
  {
    const std::lock_guard lock(mutex_);
    if (!epoch_ || !same_epoch(*epoch_, bucket)) {
      ++number_;
      dropped = std::exchange(work_, {});
      waiting_bytes_ = 0;
    }
    const bool beyond = waiting_bytes_ + bucket.levels.size() > waiting_bytes_max_;
    const SharedSlice levels = std::exchange(bucket.levels, {});
    epoch_ = bucket;
    if (!beyond) bucket.levels = levels;
    waiting_bytes_ += bucket.levels.size();
    work_.buckets.push_back({.bucket = std::move(bucket), .beyond_bound = beyond});
  }
  waker_.signal();
}

void AggregatorCommands::stop(const RoundKey& id) {
  Work dropped;
  {
    const std::lock_guard lock(mutex_);
    if (!epoch_ || epoch_->id != id) return;
    dropped = std::exchange(work_, {});
    waiting_bytes_ = 0;
    work_.stopped = true;
    work_.dropped = dropped.dropped || !dropped.buckets.empty();
  }
  waker_.signal();
}

void AggregatorCommands::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  waker_.signal();
}

std::optional<AggregatorCommands::NextEpoch> AggregatorCommands::next_epoch(std::uint64_t seen) {
  while (true) {
    waker_.take();
    {
      const std::lock_guard lock(mutex_);
      if (ending_) return std::nullopt;
      if (number_ != seen) return NextEpoch{.number = number_, .epoch = *epoch_};
    }
    waker_.wait(std::chrono::hours(1));
  }
}

std::optional<AggregatorCommands::Work> AggregatorCommands::take(std::uint64_t number) {
  waker_.take();
  const std::lock_guard lock(mutex_);
  if (ending_ || number_ != number) return std::nullopt;
  waiting_bytes_ = 0;
  return std::exchange(work_, {});
}

}  // namespace tributary
