// Tests of the content of a simulated file, compared with one flat vector.
#include "core/sim/disk/file_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/sim/scenario/draws.h"

namespace tributary {
namespace {

constexpr std::uint64_t kBlock = FileBytes::kBlockBytes;

Bytes content_of(const FileBytes& file) {
  Bytes all(file.size());
  EXPECT_EQ(file.read(0, all), all.size());
  return all;
}

// Writes, gaps, truncations and extensions around the ends of blocks, against one flat vector.
TEST(FileBytes, EqualsAFlatFile) {
  SeededDraws draws(1, DrawUse::disk, 0);
  FileBytes file;
  Bytes flat;
  for (int step = 0; step < 400; ++step) {
    const std::uint64_t near_end = kBlock * draws.below(4) + draws.below(5);
    const std::uint64_t offset = near_end - std::min<std::uint64_t>(near_end, 2);
    if (draws.chance(0.3)) {
      file.resize(offset);
      flat.resize(offset, std::uint8_t{0});
    } else {
      Bytes bytes(draws.below(2 * kBlock), static_cast<std::uint8_t>(1 + draws.below(255)));
      file.write(offset, bytes);
      if (flat.size() < offset + bytes.size()) flat.resize(offset + bytes.size(), std::uint8_t{0});
      std::ranges::copy(bytes, flat.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    ASSERT_EQ(content_of(file), flat) << step;
  }
}

TEST(FileBytes, AReadStopsAtTheEnd) {
  FileBytes file;
  file.write(0, Bytes(kBlock + 3, 7));
  Bytes out(10, 0);
  EXPECT_EQ(file.read(kBlock - 2, out), 5u);
  EXPECT_EQ(out[4], 7);
  EXPECT_EQ(out[5], 0);
  EXPECT_EQ(file.read(kBlock + 3, out), 0u);
}

}  // namespace
}  // namespace tributary
