#include "core/collective/in_network/add_levels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/random.h"

namespace tributary::in_network {
namespace {

TEST(AddLevels, AddsThePlacesOfAllLevelsInOrder) {
  std::array<std::uint16_t, 16> table = {};
  for (std::size_t i = 0; i < 16; ++i) table[i] = static_cast<std::uint16_t>(67 * i);
  const Places places = Places::of(table);
  for (const std::size_t count : {64u, 128u, 512u, 1024u}) {
    Bytes packed(count / 2);
    for (std::uint32_t i = 0; i < packed.size(); ++i) {
      packed[i] = static_cast<std::uint8_t>(random_bits({1, 2}, i));
    }
    Bytes narrow(count, 1);
    Bytes wide(2 * count, 1);
    set_levels8(packed.data(), count, places, narrow.data());
    set_levels16(packed.data(), count, places, wide.data());
    for (int more = 0; more < 3; ++more) {
      add_levels8(packed.data(), count, places, narrow.data());
      add_levels16(packed.data(), count, places, wide.data());
    }
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned sum = 4u * table[packed[i / 2] >> (i % 2 * 4) & 15];
      std::uint16_t got = 0;
      std::memcpy(&got, wide.data() + 2 * i, sizeof(got));
      EXPECT_EQ(got, sum);
      EXPECT_EQ(narrow[i], sum % 256);
    }
  }
}

}  // namespace
}  // namespace tributary::in_network
