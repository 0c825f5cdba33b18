// The time of work on a GPU: events around a graph of many repeats.
#pragma once

#include <functional>
#include <span>

#include "core/codec/cuda/device.h"

namespace tributary::bench {

// Adds work to the queue, as DeviceCase::start does.
using Start = std::function<Status(const cuda::Queue& queue)>;

// Seconds of one call.
struct DeviceTime {
  double median_s = 0;
  double min_s = 0;
  double max_s = 0;
  bool graph = true;  // false: the work could not be captured, and its starts are in the time
};

inline constexpr unsigned kRepeats = 100;
inline constexpr unsigned kSamples = 9;

// Repeats the starts in turn, kRepeats in all, and times that kSamples times.
Result<DeviceTime> time_on_device(const cuda::Queue& queue, std::span<const Start> starts);

// Seconds of one call, by the clock of the host.
struct LaunchTime {
  double starts_s = 0;  // every kernel is started
  double graph_s = 0;   // one graph holds the kernels of a call; 0: they cannot be captured
};

// kRepeats calls one after the other; the median of kSamples times.
Result<LaunchTime> time_launches(const cuda::Queue& queue, const Start& start);

}  // namespace tributary::bench
