// The handles that jobs have in packets of sums in the network. Packets have two bytes for the job,
// and no two jobs of a coordinator have the same handle at the same time. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/bytes/checksum.h"

namespace tributary {

class SumHandles {
 public:
  // The job's handle. It is the same in every run of the coordinator unless another job has it.
  // With 65,536 jobs, the next one shares a handle, and the aggregator refuses it.
  std::uint16_t take(std::uint64_t job) {
    const auto first = static_cast<std::uint16_t>(
        hash64({reinterpret_cast<const std::uint8_t*>(&job), sizeof(job)}));
    auto handle = first;
    while (job_of_.try_emplace(handle, job).first->second != job) {
      handle = static_cast<std::uint16_t>(handle + 1);
      if (handle == first) break;
    }
    return handle;
  }
  // The job is over.
  void release(std::uint64_t job) {
    std::erase_if(job_of_, [job](const auto& item) { return item.second == job; });
  }

 private:
  std::map<std::uint16_t, std::uint64_t> job_of_;
};

}  // namespace tributary
