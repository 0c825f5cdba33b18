#include "core/codec/cuda/sparse/loops.h"

#include "core/codec/cuda/sparse/places.h"
#include "core/codec/cuda/sparse/select.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using sparse::DeviceSelection;

class SparseLoops final : public sparse::DeviceLoops {
 public:
  explicit SparseLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Status select_top(std::span<const float> values, std::uint32_t k, DeviceSelection& out) override {
    return select(values, k, out, [&](Workspace& space, const Work& work) {
      return TRIBUTARY_DEVICE::select_top(space.queue(), work.x, work.n, k, work.memory, work.out);
    });
  }

  Status select_bisected(std::span<const float> values, std::uint32_t k, unsigned bisections,
                         DeviceSelection& out) override {
    return select(values, k, out, [&](Workspace& space, const Work& work) {
      return TRIBUTARY_DEVICE::select_bisected(space.queue(), work.x, work.n, k, bisections,
                                               work.memory, work.out);
    });
  }

  Status select_sampled(std::span<const float> values, const SampledRank& sample,
                        std::optional<std::uint32_t> k_max, DeviceSelection& out) override {
    const auto n = static_cast<std::uint32_t>(values.size());
    return select(
        values, k_max.value_or(n), out, [&](Workspace& space, const Work& work) -> Status {
          TRIBUTARY_ASSIGN(auto* const sampled, space.array<float>(sample.count));
          TRIBUTARY_ASSIGN(auto* const magnitude, space.array<std::uint32_t>(1));
          TRIBUTARY_TRY(
              sampled_magnitude(space.queue(), work.x, n, sample, work.memory, sampled, magnitude));
          if (k_max) {
            return select_at_least_up_to(space.queue(), work.x, n, magnitude, *k_max, work.memory,
                                         work.out);
          }
          return select_at_least(space.queue(), work.x, n, magnitude, work.memory, work.out);
        });
  }

  Result<std::uint32_t> pick(std::span<const std::uint32_t> indices, std::span<const float> values,
                             float* picked) override {
    constexpr std::uint32_t kNone[] = {0};
    std::uint32_t largest = 0;
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const Places places, upload_places(space, indices));
    TRIBUTARY_ASSIGN(auto* const out, space.array<float>(indices.size()));
    TRIBUTARY_ASSIGN(auto* const found, space.upload(std::span<const std::uint32_t>(kNone)));
    TRIBUTARY_TRY(find_largest(space.queue(), x, static_cast<std::uint32_t>(values.size()), found));
    TRIBUTARY_TRY(pick_values(space.queue(), x, places, out));
    TRIBUTARY_TRY(space.download(found, std::span(&largest, 1)));
    TRIBUTARY_TRY(space.download(out, std::span(picked, indices.size())));
    TRIBUTARY_TRY(space.wait());
    return largest;
  }

  Status scatter(std::span<const std::uint32_t> indices, const float* values,
                 std::span<float> out) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const Places places, upload_places(space, indices));
    TRIBUTARY_ASSIGN(const auto* const given, space.upload(std::span(values, indices.size())));
    TRIBUTARY_ASSIGN(auto* const x, space.array<float>(out.size()));
    TRIBUTARY_TRY(
        scatter_values(space.queue(), places, given, static_cast<std::uint32_t>(out.size()), x));
    TRIBUTARY_TRY(space.download(x, out));
    return space.wait();
  }

 private:
  // The arrays of a selection on the device.
  struct Work {
    const float* x;
    std::uint32_t n;
    SelectionMemory memory;
    Selected out;
  };

  // start(space, work) adds a selection of at most k values to the queue.
  template <typename Start>
  Status select(std::span<const float> values, std::uint32_t k, DeviceSelection& out,
                const Start& start) {
    out.indices.clear();
    out.values.clear();
    out.largest = 0;
    if (values.empty()) return {};
    const auto n = static_cast<std::uint32_t>(values.size());
    const std::uint32_t selected_max = std::min(k, n);
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    Work work = {.x = nullptr, .n = n, .memory = {}, .out = {}};
    TRIBUTARY_ASSIGN(work.x, space.upload(values));
    TRIBUTARY_ASSIGN(work.memory, selection_memory(space, n));
    TRIBUTARY_ASSIGN(work.out.indices, space.array<std::uint32_t>(selected_max));
    TRIBUTARY_ASSIGN(work.out.values, space.array<float>(selected_max));
    TRIBUTARY_TRY(start(space, work));

    // The number of selected values may depend on the data, so it comes first.
    SelectionState state = {};
    TRIBUTARY_TRY(space.download(work.memory.state, std::span(&state, 1)));
    TRIBUTARY_TRY(space.wait());
    out.largest = state.largest;
    out.indices.resize(state.selected);
    out.values.resize(state.selected);
    TRIBUTARY_TRY(space.download(work.out.indices, std::span(out.indices)));
    TRIBUTARY_TRY(space.download(work.out.values, std::span(out.values)));
    return space.wait();
  }

  static Result<Places> upload_places(Workspace& space, std::span<const std::uint32_t> indices) {
    TRIBUTARY_ASSIGN(const auto* const places, space.upload(indices));
    return Places{places, static_cast<std::uint32_t>(indices.size())};
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<sparse::DeviceLoops> make_sparse_loops(Workspaces& workspaces) {
  return std::make_unique<SparseLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
