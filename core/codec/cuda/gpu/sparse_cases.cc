#include "core/codec/cuda/gpu/sparse_cases.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/codec/codec.h"
#include "core/codec/cuda/sparse/places.h"
#include "core/codec/cuda/sparse/select.h"
#include "core/codec/sparse/select.h"

namespace tributary::cuda {
namespace {

constexpr unsigned kBisections = 25;  // the default of mstopk

// The data of all cases, which stays on the device.
struct SparseArrays {
  std::uint32_t n = 0;
  std::uint32_t k = 0;
  SampledRank sample = {};
  FloatVector update;
  Workspaces workspaces;
  std::optional<Workspace> space;
  const float* x = nullptr;
  SelectionMemory memory = {};
  Selected out = {};
  Selected top = {};
  float* sampled = nullptr;
  std::uint32_t* magnitude = nullptr;
  float* back = nullptr;

  static Result<std::shared_ptr<SparseArrays>> make(const FloatVector& update) {
    const auto a = std::make_shared<SparseArrays>();
    a->n = static_cast<std::uint32_t>(update.size());
    a->k = sparse::kept_of(0.01, update.size());
    a->sample = sparse::sampled_rank(0.01, update.size(), 0.25, {.a = 3, .b = 4});
    a->update = update;
    TRIBUTARY_ASSIGN(Workspace taken, a->workspaces.take());
    a->space.emplace(std::move(taken));
    Workspace& space = *a->space;
    TRIBUTARY_ASSIGN(a->x, space.upload(std::span<const float>(a->update)));
    TRIBUTARY_ASSIGN(a->memory, selection_memory(space, a->n));
    TRIBUTARY_ASSIGN(a->out.indices, space.array<std::uint32_t>(a->n));
    TRIBUTARY_ASSIGN(a->out.values, space.array<float>(a->n));
    TRIBUTARY_ASSIGN(a->top.indices, space.array<std::uint32_t>(a->k));
    TRIBUTARY_ASSIGN(a->top.values, space.array<float>(a->k));
    TRIBUTARY_ASSIGN(a->sampled, space.array<float>(a->sample.count));
    TRIBUTARY_ASSIGN(a->magnitude, space.array<std::uint32_t>(1));
    TRIBUTARY_ASSIGN(a->back, space.array<float>(a->n));
    TRIBUTARY_TRY(space.wait());
    return a;
  }

  // Compares the last selection with the host's.
  Status check(const Queue& queue, const Selected& selected,
               const sparse::Selector::Indices& expected) const {
    TRIBUTARY_TRY(expected.status());
    SelectionState state = {};
    TRIBUTARY_TRY(copy_to_host(queue, memory.state, sizeof(state), &state));
    TRIBUTARY_TRY(queue.wait());
    if (state.selected != expected->size()) return unequal("number of selected values");
    RawVector<std::uint32_t> indices(expected->size());
    FloatVector values(expected->size());
    TRIBUTARY_TRY(copy_to_host(queue, selected.indices, indices.size() * sizeof(std::uint32_t),
                               indices.data()));
    TRIBUTARY_TRY(
        copy_to_host(queue, selected.values, values.size() * sizeof(float), values.data()));
    TRIBUTARY_TRY(queue.wait());
    if (!std::ranges::equal(indices, *expected)) return unequal("selected indices");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != update[indices[i]]) return unequal("selected values");
    }
    return {};
  }

  Status check_decoded(const Queue& queue) const {
    sparse::Selector selector;
    const auto places = selector.top({}, update, k);
    TRIBUTARY_TRY(places.status());
    FloatVector expected(n, 0.0f);
    for (const std::uint32_t place : *places) expected[place] = update[place];
    FloatVector got(n);
    TRIBUTARY_TRY(copy_to_host(queue, back, n * sizeof(float), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return expected == got ? Status() : unequal("decoded values");
  }

  static Status unequal(const char* what) {
    return Status(StatusCode::mismatch, {.what = what, .expected = "the host's"});
  }
};

}  // namespace

Result<std::vector<DeviceCase>> sparse_cases(const FloatVector& update) {
  TRIBUTARY_ASSIGN(const std::shared_ptr<SparseArrays> a, SparseArrays::make(update));
  const std::uint64_t bytes = std::uint64_t{a->n} * sizeof(float);
  return std::vector<DeviceCase>{
      {.name = "topk encode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return select_top(queue, a->x, a->n, a->k, a->memory, a->top);
           },
       .check =
           [a](const Queue& queue) {
             sparse::Selector selector;
             return a->check(queue, a->top, selector.top({}, a->update, a->k));
           }},
      {.name = "topk decode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return scatter_values(queue, {a->top.indices, a->k}, a->top.values, a->n, a->back);
           },
       .check = [a](const Queue& queue) { return a->check_decoded(queue); }},
      {.name = "mstopk encode",
       .float_bytes = bytes,
       .start =
           [a](const Queue& queue) {
             return select_bisected(queue, a->x, a->n, a->k, kBisections, a->memory, a->out);
           },
       .check =
           [a](const Queue& queue) {
             sparse::Selector selector;
             return a->check(queue, a->out, selector.bisected({}, a->update, a->k, kBisections));
           }},
      {.name = "threshold encode",
       .float_bytes = bytes,
       .start = [a](const Queue& queue) -> Status {
         TRIBUTARY_TRY(
             sampled_magnitude(queue, a->x, a->n, a->sample, a->memory, a->sampled, a->magnitude));
         return select_at_least(queue, a->x, a->n, a->magnitude, a->memory, a->out);
       },
       .check =
           [a](const Queue& queue) {
             sparse::Selector selector;
             const auto magnitude = sparse::sampled_magnitude({}, a->update, a->sample);
             return a->check(queue, a->out, selector.at_least({}, a->update, magnitude));
           }},
  };
}

}  // namespace tributary::cuda
