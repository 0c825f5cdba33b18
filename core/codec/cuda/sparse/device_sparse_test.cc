// Compares the selections of a device with those of the host. Built for the emulated device
// everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the device is not
// available.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/cuda/sparse/places.h"
#include "core/codec/cuda/sparse/select.h"
#include "core/codec/sparse/indices/random_places.h"
#include "core/codec/sparse/select.h"
#include "core/codec/sparse/sparse_body.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::bits_of;
using codec_testing::kPatterns;
using codec_testing::Pattern;
using sparse::IndexVector;
using sparse::Selector;

constexpr std::size_t kSparseSizes[] = {1, 31, 33, 127, 2049, 4801};
constexpr std::size_t kSparseTurns = 70'001;  // several turns of all warps of two blocks
constexpr StreamKey kSparseKey = {.a = 11, .b = 12};

// A bucket on the device, with the memory to select from it.
struct SparseBucket {
  std::uint32_t n;
  const float* x;
  SelectionMemory memory;
  Selected out;
};

struct SparseOutcome {
  std::uint32_t largest = 0;
  IndexVector indices;
  FloatVector values;
};

class DeviceSelection : public DeviceTest {
 protected:
  // start(queue, bucket) adds a selection to the queue; it selects at most `most` values.
  template <typename Start>
  SparseOutcome selected(const Queue& queue, const FloatVector& update, std::size_t most,
                         const Start& start) const {
    SparseOutcome outcome;
    const Status status = select(queue, update, most, start, outcome);
    EXPECT_TRUE(status.ok()) << status.text();
    return outcome;
  }

  // Compares a selection with what the host selects. A narrow queue makes a difference only if
  // there are many tiles.
  template <typename Start>
  void compare(const FloatVector& update, const Selector::Indices& expected,
               const Start& start) const {
    ASSERT_TRUE(expected.ok()) << expected.status().text();
    FloatVector values(expected->size());
    sparse::pick({}, *expected, update, values.data());
    std::vector<const Queue*> queues = {&narrow_queue()};
    if (update.size() >= kSparseTurns) queues.push_back(&queue());
    for (const Queue* const each : queues) {
      // One more than expected, so that another value would be seen.
      const SparseOutcome got = selected(*each, update, expected->size() + 1, start);
      ASSERT_TRUE(std::ranges::equal(got.indices, *expected))
          << got.indices.size() << " indices, expected " << expected->size();
      ASSERT_EQ(bits_of(got.values), bits_of(values));
    }
  }

  // Compares all kinds of selections.
  void compare_all(const FloatVector& update, std::uint32_t k) const {
    SCOPED_TRACE(testing::Message() << "k = " << k);
    Selector selector;
    compare(update, selector.top({}, update, k),
            [&](const Queue& queue, const SparseBucket& bucket) {
              return select_top(queue, bucket.x, bucket.n, k, bucket.memory, bucket.out);
            });
    for (const unsigned bisections : {3u, 25u}) {
      compare(update, selector.bisected({}, update, k, bisections),
              [&](const Queue& queue, const SparseBucket& bucket) {
                return select_bisected(queue, bucket.x, bucket.n, k, bisections, bucket.memory,
                                       bucket.out);
              });
    }
    compare_sampled(update, k);
  }

 private:
  void compare_sampled(const FloatVector& update, std::uint32_t k) const {
    Selector selector;
    const SampledRank sample = sparse::sampled_rank(0.3, update.size(), 0.1, kSparseKey);
    const std::uint32_t threshold = sparse::sampled_magnitude({}, update, sample);
    auto sampled = zeros<float>(sample.count);
    auto magnitude = zeros<std::uint32_t>(1);
    const auto find = [&](const Queue& queue, const SparseBucket& bucket) {
      return sampled_magnitude(queue, bucket.x, bucket.n, sample, bucket.memory, sampled.data(),
                               magnitude.data());
    };
    compare(update, selector.at_least({}, update, threshold),
            [&](const Queue& queue, const SparseBucket& bucket) -> Status {
              TRIBUTARY_TRY(find(queue, bucket));
              return select_at_least(queue, bucket.x, bucket.n, magnitude.data(), bucket.memory,
                                     bucket.out);
            });
    compare(update, selector.at_least_up_to({}, update, threshold, k),
            [&](const Queue& queue, const SparseBucket& bucket) -> Status {
              TRIBUTARY_TRY(find(queue, bucket));
              return select_at_least_up_to(queue, bucket.x, bucket.n, magnitude.data(), k,
                                           bucket.memory, bucket.out);
            });
    EXPECT_EQ(on_host(queue(), magnitude)[0], threshold);
  }

  template <typename Start>
  Status select(const Queue& queue, const FloatVector& update, std::size_t most, const Start& start,
                SparseOutcome& outcome) const {
    const auto n = static_cast<std::uint32_t>(update.size());
    const auto x = on_device<float>(update);
    Workspaces workspaces;
    TRIBUTARY_ASSIGN(Workspace space, workspaces.take());
    TRIBUTARY_ASSIGN(const SelectionMemory memory, selection_memory(space, n));
    auto indices = zeros<std::uint32_t>(most);
    auto values = zeros<float>(most);
    TRIBUTARY_TRY(start(queue, SparseBucket{n, x.data(), memory, {indices.data(), values.data()}}));
    SelectionState state = {};
    TRIBUTARY_TRY(copy_to_host(queue, memory.state, sizeof(state), &state));
    TRIBUTARY_TRY(queue.wait());
    outcome.largest = state.largest;
    outcome.indices.resize(std::min<std::size_t>(state.selected, most));
    outcome.values.resize(outcome.indices.size());
    TRIBUTARY_TRY(indices.read(queue, outcome.indices));
    return values.read(queue, outcome.values);
  }
};

class DeviceSelections : public DeviceSelection, public testing::WithParamInterface<Pattern> {};

TEST_P(DeviceSelections, AreTheHosts) {
  for (const std::size_t size : kSparseSizes) {
    SCOPED_TRACE(testing::Message() << size << " values");
    const FloatVector update = codec_testing::update(GetParam(), size, 0);
    for (const double ratio : {0.01, 0.3}) compare_all(update, sparse::kept_of(ratio, size));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, DeviceSelections, testing::ValuesIn(kPatterns));

// Patterns without ties, with many, and with candidates in all tiles.
TEST_F(DeviceSelection, IsTheHostsInSeveralTurns) {
  for (const Pattern pattern : {Pattern::normal, Pattern::integers, Pattern::zeros}) {
    compare_all(codec_testing::update(pattern, kSparseTurns, 1), 700);
  }
}

TEST_F(DeviceSelection, TakesAllValuesAndNone) {
  const FloatVector update = codec_testing::update(Pattern::integers, 300, 0);
  compare_all(update, 299);
  compare_all(update, 300);
  compare_all(update, 301);
  const SparseOutcome none =
      selected(queue(), {}, 1, [](const Queue& queue, const SparseBucket& bucket) {
        return select_top(queue, bucket.x, 0, 0, bucket.memory, bucket.out);
      });
  EXPECT_TRUE(none.indices.empty());
}

// All values are equal, so only indices decide. The fill ends within a tile.
TEST_F(DeviceSelection, OfEqualValuesTheFirstAreTaken) {
  for (const std::uint32_t k : {1u, 31u, 2048u, 2049u, 5000u}) {
    compare_all(FloatVector(6001, -2.5f), k);
  }
}

// The candidates have all first digits, and magnitudes that differ in the last bit.
TEST_F(DeviceSelection, DistinguishesNeighbouringMagnitudes) {
  FloatVector update(4000);
  for (std::uint32_t i = 0; i < update.size(); ++i) {
    update[i] = std::bit_cast<float>(0x3f800000u + i * 7919 % 2000);
  }
  for (const std::uint32_t k : {1u, 2u, 999u, 2001u}) compare_all(update, k);
}

TEST_F(DeviceSelection, SeesValuesThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
        std::numeric_limits<float>::quiet_NaN()}) {
    FloatVector update = codec_testing::update(Pattern::normal, 5001, 0);
    update[5000] = bad;
    const auto top =
        selected(queue(), update, 50, [](const Queue& queue, const SparseBucket& bucket) {
          return select_top(queue, bucket.x, bucket.n, 50, bucket.memory, bucket.out);
        });
    EXPECT_EQ(top.largest, magnitude_bits(bad));
    const auto bisected =
        selected(queue(), update, 50, [](const Queue& queue, const SparseBucket& bucket) {
          return select_bisected(queue, bucket.x, bucket.n, 50, 25, bucket.memory, bucket.out);
        });
    EXPECT_EQ(bisected.largest, magnitude_bits(bad));
  }
}

using DevicePlaces = DeviceTest;

TEST_F(DevicePlaces, ArePickedAndScattered) {
  for (const std::size_t size : {1u, 2u, 33u, 4099u}) {
    const FloatVector update = codec_testing::update(Pattern::lognormal, size, 0);
    const auto n = static_cast<std::uint32_t>(size);
    for (const std::uint32_t k : {0u, 1u, n / 2, n}) {
      IndexVector indices;
      sparse::draw_places({}, kSparseKey, size, k, indices);
      FloatVector picked(k);
      sparse::pick({}, indices, update, picked.data());
      FloatVector scattered(size);
      sparse::scatter({}, indices, picked.data(), scattered);
      FloatVector added = update;
      for (std::size_t i = 0; i < k; ++i) added[indices[i]] += picked[i];

      for (const Queue* const each : {&queue(), &narrow_queue()}) {
        const auto x = on_device<float>(update);
        const auto places = on_device<std::uint32_t>(indices);
        const Places at = {places.data(), k};
        auto values = zeros<float>(k);
        ASSERT_TRUE(pick_values(*each, x.data(), at, values.data()).ok());
        ASSERT_EQ(bits_of(on_host(*each, values)), bits_of(picked));
        auto out = on_device<float>(update);
        ASSERT_TRUE(add_values(*each, at, values.data(), out.data()).ok());
        ASSERT_EQ(bits_of(on_host(*each, out)), bits_of(added));
        ASSERT_TRUE(scatter_values(*each, at, values.data(), n, out.data()).ok());
        ASSERT_EQ(bits_of(on_host(*each, out)), bits_of(scattered));
      }
    }
  }
}

TEST_F(DevicePlaces, LargestMagnitudesAreTheHosts) {
  for (const Pattern pattern : kPatterns) {
    const FloatVector update = codec_testing::update(pattern, 4099, 0);
    const auto x = on_device<float>(update);
    auto largest = zeros<std::uint32_t>(1);
    ASSERT_TRUE(find_largest(narrow_queue(), x.data(), 4099, largest.data()).ok());
    std::uint32_t expected = 0;
    for (const float value : update) expected = std::max(expected, magnitude_bits(value));
    EXPECT_EQ(on_host(narrow_queue(), largest)[0], expected);
  }
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
