// Shows that comparisons of selections can fail: copies of the kernels with one fault each
// (CMakeLists.txt) select other values than the host.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/launch.h"
#include "core/codec/cuda/sparse/select.h"
#include "core/codec/sparse/select.h"

#include <planted_selections/all_ties.cu>
#include <planted_selections/early_histogram.cu>
#include <planted_selections/early_rank.cu>
#include <planted_selections/forgotten_ties.cu>
#include <planted_selections/no_fault.cu>

namespace tributary::emulated {
namespace {

using codec_testing::Pattern;

struct Kernels {
  const char* name;
  Status (*select_top)(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                       const SelectionMemory& memory, const Selected& out);
};

#define KERNELS(fault) \
  Kernels { #fault, fault::start_top }

// Space for all values, because a fault may select too many.
Status agree(const Kernels& kernels, const FloatVector& update, std::uint32_t k, bool& same) {
  const auto n = static_cast<std::uint32_t>(update.size());
  Workspaces workspaces;
  TRIBUTARY_ASSIGN(Workspace space, workspaces.take());
  TRIBUTARY_ASSIGN(const auto* const x, space.upload(std::span<const float>(update)));
  TRIBUTARY_ASSIGN(const SelectionMemory memory, selection_memory(space, n));
  TRIBUTARY_ASSIGN(auto* const indices, space.array<std::uint32_t>(n));
  TRIBUTARY_ASSIGN(auto* const values, space.array<float>(n));
  TRIBUTARY_TRY(kernels.select_top(space.queue(), x, n, k, memory, {indices, values}));
  SelectionState state = {};
  RawVector<std::uint32_t> selected(n);
  TRIBUTARY_TRY(space.download(memory.state, std::span(&state, 1)));
  TRIBUTARY_TRY(space.download(indices, std::span(selected)));
  TRIBUTARY_TRY(space.wait());
  sparse::Selector selector;
  const auto expected = selector.top({}, update, k);
  TRIBUTARY_TRY(expected.status());
  same = state.selected == expected->size() &&
         std::ranges::equal(*expected, std::span(selected).first(expected->size()));
  return {};
}

// Many ties; the selected ones end within a tile.
bool always_agrees(const Kernels& kernels) {
  bool all = true;
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    set_order_seed(seed);
    for (const Pattern pattern : {Pattern::integers, Pattern::zeros}) {
      bool same = false;
      const Status status = agree(kernels, codec_testing::update(pattern, 6001, 0), 6000, same);
      EXPECT_TRUE(status.ok()) << status.text();
      all &= same;
      const Status few = agree(kernels, codec_testing::update(pattern, 6001, 0), 700, same);
      EXPECT_TRUE(few.ok()) << few.text();
      all &= same;
    }
  }
  return all;
}

class PlantedSelections : public testing::TestWithParam<Kernels> {};

TEST_P(PlantedSelections, AreFound) { EXPECT_FALSE(always_agrees(GetParam())); }

TEST(PlantedSelections, KernelsWithoutFaultAgree) { EXPECT_TRUE(always_agrees(KERNELS(no_fault))); }

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedSelections,
                         testing::Values(KERNELS(early_histogram), KERNELS(early_rank),
                                         KERNELS(all_ties), KERNELS(forgotten_ties)),
                         [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tributary::emulated
