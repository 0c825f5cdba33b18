#include "bench/cuda/device_time.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/codec/cuda/gpu/errors.h"

namespace tributary::bench {
namespace {

using cuda::Queue;
using cuda::status_of;

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { static_cast<void>(cudaEventDestroy(event)); }
};
struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
};
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, DestroyEvent>;
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

Result<Event> make_event() {
  cudaEvent_t event = nullptr;
  TRIBUTARY_TRY(status_of(cudaEventCreate(&event), "an event"));
  return Event(event);
}

Status repeat(const Queue& queue, std::span<const Start> starts) {
  for (unsigned i = 0; i < kRepeats; ++i) TRIBUTARY_TRY(starts[i % starts.size()](queue));
  return {};
}

// Null: the work cannot be captured.
Graph capture(const Queue& queue, const std::function<Status()>& add) {
  if (cudaStreamBeginCapture(queue.stream(), cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  const bool added = add().ok();
  cudaGraph_t graph = nullptr;
  const bool ended = cudaStreamEndCapture(queue.stream(), &graph) == cudaSuccess;
  cudaGraphExec_t executable = nullptr;
  const bool made = added && ended && cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess;
  if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
  static_cast<void>(cudaGetLastError());
  return Graph(made ? executable : nullptr);
}

}  // namespace

Result<DeviceTime> time_on_device(const Queue& queue, std::span<const Start> starts) {
  TRIBUTARY_ASSIGN(const Event begin, make_event());
  TRIBUTARY_ASSIGN(const Event end, make_event());
  // The first call loads the kernels, which a capture must not do.
  for (const Start& start : starts) TRIBUTARY_TRY(start(queue));
  TRIBUTARY_TRY(queue.wait());
  const Graph graph = capture(queue, [&] { return repeat(queue, starts); });
  std::vector<double> seconds;
  for (unsigned sample = 0; sample <= kSamples; ++sample) {
    TRIBUTARY_TRY(status_of(cudaEventRecord(begin.get(), queue.stream()), "an event"));
    if (graph != nullptr) {
      TRIBUTARY_TRY(status_of(cudaGraphLaunch(graph.get(), queue.stream()), "a graph"));
    } else {
      TRIBUTARY_TRY(repeat(queue, starts));
    }
    TRIBUTARY_TRY(status_of(cudaEventRecord(end.get(), queue.stream()), "an event"));
    TRIBUTARY_TRY(queue.wait());
    float ms = 0;
    TRIBUTARY_TRY(status_of(cudaEventElapsedTime(&ms, begin.get(), end.get()), "a time"));
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
  LaunchTime time;
  TRIBUTARY_ASSIGN(time.starts_s, time_calls(queue, [&] { return start(queue); }));
  const Graph graph = capture(queue, [&] { return start(queue); });
  if (graph == nullptr) return time;
  TRIBUTARY_ASSIGN(time.graph_s, time_calls(queue, [&] {
                     return status_of(cudaGraphLaunch(graph.get(), queue.stream()), "a graph");
                   }));
  return time;
}

}  // namespace tributary::bench
