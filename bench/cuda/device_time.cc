#include "bench/cuda/device_time.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "core/codec/cuda/gpu/errors.h"

namespace tributary::bench {
namespace {

using cuda::Gpu;
using cuda::kSuccess;
using cuda::Queue;
using cuda::status_of;

struct DestroyEvent {
  void operator()(CUevent_st* event) const {
    if (const Gpu* gpu = cuda::gpu_in_use()) static_cast<void>(gpu->driver.destroy_event(event));
  }
};
struct DestroyGraph {
  void operator()(CUgraphExec_st* graph) const {
    if (const Gpu* gpu = cuda::gpu_in_use()) {
      static_cast<void>(gpu->driver.destroy_executable(graph));
    }
  }
};
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;
using Graph = std::unique_ptr<CUgraphExec_st, DestroyGraph>;

Result<Event> make_event(const Gpu& gpu) {
  CUevent_st* event = nullptr;
  TRIBUTARY_TRY(status_of(gpu.driver.make_event(&event, 0), "an event"));
  return Event(event);
}

Status repeat(const Queue& queue, std::span<const Start> starts) {
  for (unsigned i = 0; i < kRepeats; ++i) TRIBUTARY_TRY(starts[i % starts.size()](queue));
  return {};
}

// Null: the work cannot be captured.
Graph capture(const Gpu& gpu, const Queue& queue, const std::function<Status()>& add) {
  if (gpu.driver.begin_capture(queue.stream(), cuda::kCaptureModeThreadLocal) != kSuccess) {
    return nullptr;
  }
  const bool added = add().ok();
  CUgraph_st* graph = nullptr;
  const bool ended = gpu.driver.end_capture(queue.stream(), &graph) == kSuccess;
  CUgraphExec_st* executable = nullptr;
  const bool made = added && ended && gpu.driver.instantiate(&executable, graph, 0) == kSuccess;
  if (graph != nullptr) static_cast<void>(gpu.driver.destroy_graph(graph));
  return Graph(made ? executable : nullptr);
}

}  // namespace

Result<DeviceTime> time_on_device(const Queue& queue, std::span<const Start> starts) {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, cuda::use_gpu());
  TRIBUTARY_ASSIGN(const Event begin, make_event(*gpu));
  TRIBUTARY_ASSIGN(const Event end, make_event(*gpu));
  // The first call loads the kernels, which a capture must not do.
  for (const Start& start : starts) TRIBUTARY_TRY(start(queue));
  TRIBUTARY_TRY(queue.wait());
  const Graph graph = capture(*gpu, queue, [&] { return repeat(queue, starts); });
  std::vector<double> seconds;
  for (unsigned sample = 0; sample <= kSamples; ++sample) {
    TRIBUTARY_TRY(status_of(gpu->driver.record_event(begin.get(), queue.stream()), "an event"));
    if (graph != nullptr) {
      TRIBUTARY_TRY(status_of(gpu->driver.launch_graph(graph.get(), queue.stream()), "a graph"));
    } else {
      TRIBUTARY_TRY(repeat(queue, starts));
    }
    TRIBUTARY_TRY(status_of(gpu->driver.record_event(end.get(), queue.stream()), "an event"));
    TRIBUTARY_TRY(queue.wait());
    float ms = 0;
    TRIBUTARY_TRY(status_of(gpu->driver.elapsed_ms(&ms, begin.get(), end.get()), "a time"));
    // The first sample warms up.
    if (sample > 0) seconds.push_back(static_cast<double>(ms) / 1e3 / kRepeats);
  }
  std::ranges::sort(seconds);
  return DeviceTime{.median_s = seconds[seconds.size() / 2],
                    .min_s = seconds.front(),
                    .max_s = seconds.back(),
                    .graph = graph != nullptr};
}

namespace {

// The queue is empty at both ends of a sample.
Result<double> time_calls(const Queue& queue, const std::function<Status()>& call) {
  std::vector<double> seconds;
  for (unsigned sample = 0; sample <= kSamples; ++sample) {
    TRIBUTARY_TRY(queue.wait());
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < kRepeats; ++i) TRIBUTARY_TRY(call());
    TRIBUTARY_TRY(queue.wait());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (sample > 0) seconds.push_back(took.count() / kRepeats);
  }
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

}  // namespace

Result<LaunchTime> time_launches(const Queue& queue, const Start& start) {
  TRIBUTARY_ASSIGN(const Gpu* const gpu, cuda::use_gpu());
  LaunchTime time;
  TRIBUTARY_ASSIGN(time.starts_s, time_calls(queue, [&] { return start(queue); }));
  const Graph graph = capture(*gpu, queue, [&] { return start(queue); });
  if (graph == nullptr) return time;
  TRIBUTARY_ASSIGN(time.graph_s, time_calls(queue, [&] {
                     return status_of(gpu->driver.launch_graph(graph.get(), queue.stream()),
                                      "a graph");
                   }));
  return time;
}

}  // namespace tributary::bench
