// The host addresses that stand for values on a device (core/codec/device/device_vector.h).
//
// Thread-safe. The caller that adds a range removes it before the memory of either side is freed.
// Few ranges exist at a time, so a search visits them all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

class StandIns {
 public:
  void add(const void* host, std::size_t bytes, void* device) {
    const std::lock_guard lock(mutex_);
    ranges_.push_back({static_cast<const char*>(host), bytes, static_cast<char*>(device)});
  }
  void remove(const void* host) {
    const std::lock_guard lock(mutex_);
    std::erase_if(ranges_, [&](const Range& range) { return range.host == host; });
  }
  // The device's address of these bytes; null if no range holds them all.
  void* find(const void* host, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    const auto* const begin = static_cast<const char*>(host);
    for (const Range& range : ranges_) {
      if (std::less<>()(begin, range.host) || !std::less<>()(begin, range.host + range.bytes)) {
        continue;
      }
      const auto offset = static_cast<std::size_t>(begin - range.host);
      return bytes <= range.bytes - offset ? range.device + offset : nullptr;
    }
    return nullptr;
  }

 private:
  struct Range {
    const char* host;
    std::size_t bytes;
    char* device;
  };

  mutable std::mutex mutex_;
  std::vector<Range> ranges_;
};

}  // namespace tributary::TRIBUTARY_DEVICE
