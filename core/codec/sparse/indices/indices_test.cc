// Tests of the layouts of index sets: each restores the set, the smallest is taken, and invalid
// bytes are refused.
#include "core/codec/sparse/indices/indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/base/random.h"
#include "core/codec/sparse/indices/rice.h"

namespace tributary::sparse {
namespace {

// A set that contains each index with probability `density`.
IndexVector random_set(std::size_t values, double density, std::uint32_t seed) {
  IndexVector indices;
  for (std::uint32_t i = 0; i < values; ++i) {
    if (uniform_01(random_bits({seed, 1}, i)) < density) indices.push_back(i);
  }
  return indices;
}

Bytes written(const IndexPlan& plan, std::span<const std::uint32_t> indices, std::size_t values) {
  // A pattern, so that bytes that are not written would be detected.
  Bytes out(plan.bytes, 0xee);
  write_indices({}, plan, indices, values, out);
  return out;
}

Status read(std::uint8_t layout, const Bytes& in, std::size_t count, std::size_t values,
            IndexVector& indices) {
  const Bytes exact(in.begin(), in.end());
  return read_indices({}, layout, exact, count, values, indices);
}

void expect_round_trip(const IndexPlan& plan, const IndexVector& indices, std::size_t values) {
  IndexVector back;
  const Status status = read(static_cast<std::uint8_t>(plan.layout), written(plan, indices, values),
                             indices.size(), values, back);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(back, indices);
}

// A plan for every layout that can encode the set.
std::vector<IndexPlan> all_plans(const IndexVector& indices, std::size_t values) {
  std::vector<IndexPlan> plans = {{IndexLayout::raw, 0, indices.size() * 4}, bitmap_plan(values)};
  if (!indices.empty()) plans.push_back(gaps_plan({}, indices));
  if (indices.size() == values) plans.push_back({IndexLayout::all, 0, 0});
  return plans;
}

constexpr double kDensities[] = {0, 1e-4, 0.01, 0.1, 0.4, 0.5, 0.9, 0.999, 1};

TEST(Indices, EveryLayoutGivesThemBack) {
  for (const std::size_t values : {0u, 1u, 2u, 7u, 8u, 9u, 64u, 65u, 1000u, 70'001u, 200'000u}) {
    for (const double density : kDensities) {
      const IndexVector indices = random_set(values, density, 5);
      for (const IndexPlan& plan : all_plans(indices, values)) {
        SCOPED_TRACE("layout " + std::to_string(static_cast<int>(plan.layout)) + ", " +
                     std::to_string(indices.size()) + " of " + std::to_string(values));
        expect_round_trip(plan, indices, values);
      }
    }
  }
}

// Each layout is the smallest one for some density.
TEST(Indices, TheSmallestLayoutIsTaken) {
  for (const std::size_t values : {1u, 9u, 1000u, 70'001u}) {
    for (const double density : kDensities) {
      const IndexVector indices = random_set(values, density, 6);
      const IndexPlan chosen = smallest_plan({}, indices, values);
      for (const IndexPlan& plan : all_plans(indices, values)) {
        EXPECT_LE(chosen.bytes, plan.bytes);
      }
      expect_round_trip(chosen, indices, values);
    }
  }
  EXPECT_EQ(smallest_plan({}, random_set(70'001, 1e-5, 6), 70'001).layout, IndexLayout::raw);
  EXPECT_EQ(smallest_plan({}, random_set(70'001, 0.01, 6), 70'001).layout, IndexLayout::gaps);
  EXPECT_EQ(smallest_plan({}, random_set(70'001, 0.5, 6), 70'001).layout, IndexLayout::bitmap);
  EXPECT_EQ(smallest_plan({}, random_set(70'001, 1, 6), 70'001).layout, IndexLayout::all);
}

// An index that is taken with probability p has an entropy of H(p)/p bits. Rice codes of geometric
// gaps stay within 4 % of it. The table of a group adds 64 bits per 4096 indices.
TEST(Indices, RandomGapsTakeLittleMoreThanTheirEntropy) {
  for (const double p : {0.001, 0.01, 0.1}) {
    const IndexVector indices = random_set(1u << 20, p, 7);
    const double entropy = (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p;
    const double bits = 8.0 * static_cast<double>(gaps_plan({}, indices).bytes) /
                        static_cast<double>(indices.size());
    EXPECT_LT(bits, 1.04 * entropy + 0.2) << p;
  }
}

// The long gap needs a code of many words, and it is the longest gap in the largest bucket.
TEST(Indices, ClusteredPlacesWithOneLongGap) {
  constexpr std::size_t kValues = 1u << 26;
  IndexVector indices(5000);
  std::iota(indices.begin(), indices.end(), 100u);
  indices.push_back(kValues - 1);
  expect_round_trip(gaps_plan({}, indices), indices, kValues);
}

TEST(Indices, EveryThreadCountWritesTheSameBytes) {
  const IndexVector indices = random_set(400'000, 0.1, 8);
  for (const IndexPlan& plan : all_plans(indices, 400'000)) {
    const Bytes expected = written(plan, indices, 400'000);
    for (const std::size_t threads : {2u, 5u}) {
      ThreadPool pool(threads);
      Bytes out(plan.bytes);
      write_indices({.pool = &pool}, plan, indices, 400'000, out);
      EXPECT_EQ(out, expected);
      IndexVector back;
      ASSERT_TRUE(read_indices({.pool = &pool}, static_cast<std::uint8_t>(plan.layout), out,
                               indices.size(), 400'000, back)
                      .ok());
      EXPECT_EQ(back, indices);
    }
  }
}

// The bytes of these layouts since the first version. Stored payloads depend on them.
TEST(Indices, GoldenBytes) {
  const IndexVector indices = {0, 1, 5, 12, 13, 30};
  EXPECT_EQ(written(bitmap_plan(33), indices, 33), (Bytes{0x23, 0x30, 0x00, 0x40, 0x00}));
  // Gaps minus one: 0 3 6 0 16. With 2 low bits: 100 111 0101 100 0000100, first bit first.
  const IndexPlan gaps = {IndexLayout::gaps, 2, 12};
  EXPECT_EQ(written(gaps, indices, 33), (Bytes{2, 0, 0, 0, 0, 3, 0, 0, 0, 0xb9, 0x06, 0x02}));
}

class BadIndices : public testing::Test {
 protected:
  void expect_refused(IndexLayout layout, const Bytes& in, std::size_t count,
                      std::size_t values = 40) {
    IndexVector indices;
    const Status status = read(static_cast<std::uint8_t>(layout), in, count, values, indices);
    EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
  }
  static Bytes raw(std::initializer_list<std::uint32_t> indices) {
    const std::vector<std::uint32_t> list(indices);
    const ByteSpan bytes = bytes_of(std::span<const std::uint32_t>(list));
    return {bytes.begin(), bytes.end()};
  }
};

TEST_F(BadIndices, Raw) {
  expect_refused(IndexLayout::raw, raw({1, 2, 40}), 3);       // out of range
  expect_refused(IndexLayout::raw, raw({3, 2}), 2);           // descending
  expect_refused(IndexLayout::raw, raw({2, 2}), 2);           // the same index twice
  expect_refused(IndexLayout::raw, raw({1, 2}), 3);           // fewer than the count
  expect_refused(IndexLayout::raw, raw({1, 2}), 1);           // more than the count
  expect_refused(IndexLayout::raw, Bytes{1, 0, 0, 0, 2}, 1);  // half an index
}

TEST_F(BadIndices, Bitmap) {
  expect_refused(IndexLayout::bitmap, Bytes{3, 0, 0, 0, 0}, 3);
  expect_refused(IndexLayout::bitmap, Bytes{7, 0, 0, 0, 0}, 2);
  expect_refused(IndexLayout::bitmap, Bytes{3, 0, 0, 0}, 2);
  expect_refused(IndexLayout::bitmap, Bytes{3, 0, 0, 0, 0, 0}, 2);
  expect_refused(IndexLayout::bitmap, Bytes{3, 0, 0, 0, 0x80}, 3, 39);  // after the last value
}

TEST_F(BadIndices, Gaps) {
  const auto gaps = [](std::uint8_t bits, std::uint8_t first, std::uint8_t end,
                       std::initializer_list<std::uint8_t> codes) {
    Bytes bytes = {bits, first, 0, 0, 0, end, 0, 0, 0};
    bytes.insert(bytes.end(), codes);
    return bytes;
  };
  IndexVector good;
  ASSERT_TRUE(read(2, gaps(0, 5, 1, {0x7}), 4, 40, good).ok());
  ASSERT_EQ(good, (IndexVector{5, 6, 7, 8}));
  expect_refused(IndexLayout::gaps, gaps(27, 5, 1, {0x7}), 4);    // more low bits than allowed
  expect_refused(IndexLayout::gaps, gaps(0, 40, 1, {0x7}), 4);    // first index out of range
  expect_refused(IndexLayout::gaps, gaps(0, 38, 1, {0x7}), 4);    // a later index out of range
  expect_refused(IndexLayout::gaps, gaps(0, 5, 2, {0x7}), 4);     // end after the codes
  expect_refused(IndexLayout::gaps, gaps(0, 5, 0, {0x7}), 4);     // codes after the end
  expect_refused(IndexLayout::gaps, gaps(0, 5, 1, {0x7}), 5);     // one code missing
  expect_refused(IndexLayout::gaps, gaps(0, 5, 1, {0x0f}), 4);    // bits after the last code
  expect_refused(IndexLayout::gaps, gaps(0, 5, 2, {0x7, 0}), 4);  // a byte after the last code
  expect_refused(IndexLayout::gaps, gaps(0, 5, 1, {0}), 4);       // a code without an end
  expect_refused(IndexLayout::gaps, Bytes{0, 5, 0, 0}, 1);        // incomplete table
  expect_refused(IndexLayout::gaps, Bytes{}, 0);
  expect_refused(IndexLayout::gaps, Bytes{0}, 0);  // an empty set uses another layout
}

// Groups are decoded independently, so the order between them has a check of its own.
TEST_F(BadIndices, GroupsThatOverlap) {
  IndexVector indices(kIndexGroup + 10);
  std::iota(indices.begin(), indices.end(), 0u);
  const IndexPlan plan = gaps_plan({}, indices);
  Bytes bytes = written(plan, indices, 10'000);
  IndexVector back;
  ASSERT_TRUE(read(2, bytes, indices.size(), 10'000, back).ok());
  bytes[1 + 8] = 0xff;  // the second group begins at the last index of the first
  bytes[1 + 8 + 1] = 0x0f;
  expect_refused(IndexLayout::gaps, bytes, indices.size(), 10'000);
}

TEST_F(BadIndices, CountsAndLayouts) {
  expect_refused(IndexLayout::all, Bytes{}, 39);
  expect_refused(IndexLayout::all, Bytes{0}, 40);
  expect_refused(IndexLayout::raw, Bytes{}, 41);
  expect_refused(IndexLayout{4}, Bytes{}, 0);
  // The count would need a thousand times the memory of the received bytes.
  expect_refused(IndexLayout::gaps, Bytes(9, 0), 1u << 26, 1u << 26);
}

}  // namespace
}  // namespace tributary::sparse
