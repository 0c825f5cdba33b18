// Tests of the map of layers: its limits, its bytes and its hash, which never change for the same
// layers.
#include "core/update/layer_map.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace tributary {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

LayerMap made(std::vector<LayerShape> shapes) {
  auto map = LayerMap::make(std::move(shapes));
  EXPECT_TRUE(map.ok()) << map.status().text();
  return std::move(map).value();
}

// Layers with several dimensions, an empty layer and a scalar.
LayerMap small_net() {
  return made({{"conv.weight", {8, 1, 3, 3}},
               {"empty", {0, 7}},
               {"conv.bias", {8}},
               {"scale", {}},
               {"fc.weight", {10, 8}}});
}

StatusCode code_of(std::vector<LayerShape> shapes) {
  return LayerMap::make(std::move(shapes)).status().code();
}

TEST(LayerMap, LaysLayersOneAfterTheOther) {
  const LayerMap map = small_net();
  ASSERT_EQ(map.layers().size(), 5u);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {
      {0, 72}, {72, 0}, {72, 8}, {80, 1}, {81, 80}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(map.layers()[i].offset, expected[i].first);
    EXPECT_EQ(map.layers()[i].count, expected[i].second);
  }
  EXPECT_EQ(map.values(), 161u);
}

TEST(LayerMap, MayHaveNoLayers) {
  const LayerMap map = made({});
  EXPECT_EQ(map.values(), 0u);
  EXPECT_EQ(map.find("x"), nullptr);
  EXPECT_EQ(map.at_offset(0), nullptr);
  EXPECT_EQ(LayerMap::decode(map.encode())->hash(), map.hash());
}

TEST(LayerMap, FindsLayersByName) {
  const LayerMap map = small_net();
  for (const Layer& layer : map.layers()) EXPECT_EQ(map.find(layer.name), &layer);
  for (const char* name : {"", "con", "conv.weigh", "conv.weightx", "zzz"}) {
    EXPECT_EQ(map.find(name), nullptr) << name;
  }
}

TEST(LayerMap, FindsTheLayerThatHoldsAValue) {
  const LayerMap map = small_net();
  for (std::uint64_t offset = 0; offset < map.values(); ++offset) {
    const Layer* layer = map.at_offset(offset);
    ASSERT_NE(layer, nullptr);
    EXPECT_LE(layer->offset, offset);
    EXPECT_LT(offset - layer->offset, layer->count);
  }
  EXPECT_EQ(map.at_offset(map.values()), nullptr);
  EXPECT_EQ(map.at_offset(kHuge), nullptr);
}

TEST(LayerMap, FindsValuesBetweenEmptyLayers) {
  const LayerMap map =
      made({{"a", {0}}, {"b", {1}}, {"c", {0}}, {"d", {0}}, {"e", {1}}, {"f", {0}}});
  EXPECT_EQ(map.at_offset(0)->name, "b");
  EXPECT_EQ(map.at_offset(1)->name, "e");
  EXPECT_EQ(map.at_offset(2), nullptr);
}

// The index of names must not point into the original.
TEST(LayerMap, StaysWholeWhenCopied) {
  const auto original = std::make_unique<LayerMap>(small_net());
  const LayerMap copy = *original;
  EXPECT_EQ(copy.find("scale"), &copy.layers()[3]);
  EXPECT_EQ(copy.hash(), original->hash());
}

TEST(LayerMap, RefusesNamesThatDoNotDistinguishLayers) {
  const Status twice = LayerMap::make({{"a", {1}}, {"b", {1}}, {"a", {2}}}).status();
  EXPECT_EQ(twice.text(),
            "invalid_argument: layer 2 'a': expected a name that no other layer has, "
            "got the name of layer 0");
  EXPECT_EQ(code_of({{"", {1}}}), StatusCode::invalid_argument);
}

TEST(LayerMap, HoldsItsCaps) {
  const auto exhausted = StatusCode::resource_exhausted;
  EXPECT_EQ(code_of({{std::string(256, 'n'), {1}}}), StatusCode::ok);
  EXPECT_EQ(code_of({{std::string(257, 'n'), {1}}}), exhausted);
  EXPECT_EQ(code_of({{"a", {1, 1, 1, 1, 1, 1, 1, 1}}}), StatusCode::ok);
  EXPECT_EQ(code_of({{"a", {1, 1, 1, 1, 1, 1, 1, 1, 1}}}), exhausted);
  EXPECT_EQ(code_of({{"a", {LayerMap::kValuesMax}}}), StatusCode::ok);
  EXPECT_EQ(code_of({{"a", {LayerMap::kValuesMax + 1}}}), exhausted);
  EXPECT_EQ(code_of({{"a", {LayerMap::kValuesMax}}, {"b", {}}}), exhausted);
  // An empty layer adds no values.
  EXPECT_EQ(code_of({{"a", {LayerMap::kValuesMax}}, {"b", {0}}}), StatusCode::ok);

  std::vector<LayerShape> many;
  for (std::size_t i = 0; i < LayerMap::kLayersMax; ++i) many.push_back({std::to_string(i), {1}});
  EXPECT_EQ(code_of(many), StatusCode::ok);
  many.push_back({"one more", {1}});
  EXPECT_EQ(code_of(many), exhausted);
}

TEST(LayerMap, CatchesProductsThatOverflow) {
  const std::uint64_t half = std::uint64_t{1} << 32;
  EXPECT_EQ(code_of({{"a", {half, half}}}), StatusCode::resource_exhausted);    // 2^64: wraps to 0
  EXPECT_EQ(code_of({{"a", {kHuge, kHuge}}}), StatusCode::resource_exhausted);  // wraps to 1
  EXPECT_EQ(code_of({{"a", {3, kHuge / 3 + 1}}}), StatusCode::resource_exhausted);
  EXPECT_EQ(made({{"a", {kHuge, 0, kHuge}}}).values(), 0u);
}

TEST(LayerMap, IsRestoredFromItsBytes) {
  const LayerMap map = small_net();
  const auto decoded = LayerMap::decode(map.encode());
  ASSERT_TRUE(decoded.ok()) << decoded.status().text();
  ASSERT_EQ(decoded->layers().size(), map.layers().size());
  for (std::size_t i = 0; i < map.layers().size(); ++i) {
    EXPECT_EQ(decoded->layers()[i].name, map.layers()[i].name);
    EXPECT_EQ(decoded->layers()[i].shape, map.layers()[i].shape);
    EXPECT_EQ(decoded->layers()[i].offset, map.layers()[i].offset);
  }
  EXPECT_EQ(decoded->hash(), map.hash());
  EXPECT_EQ(decoded->values(), map.values());
}

// Agents of different builds compare these values, so they must not change.
TEST(LayerMap, HasTheSameBytesAndHashForEver) {
  const LayerMap map = made({{"ab", {2, 3}}, {"c", {}}});
  EXPECT_EQ(map.encode(), Bytes({'T', 'R', 'L', 'M', 1, 0,  // magic, version
                                 2,   0,   0,   0,          // layers
                                 2,   0,   'a', 'b', 2,     // name, dimensions
                                 2,   0,   0,   0,   0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0,  // extents
                                 1,   0,   'c', 0}));
  EXPECT_EQ(map.hash(), 0x1321b6dadf3e6d64u);
}

TEST(LayerMap, HashDependsOnNamesShapesAndOrder) {
  const std::uint64_t hash = made({{"a", {2, 3}}, {"b", {4}}}).hash();
  EXPECT_NE(made({{"a", {3, 2}}, {"b", {4}}}).hash(), hash);
  EXPECT_NE(made({{"a", {6}}, {"b", {4}}}).hash(), hash);
  EXPECT_NE(made({{"b", {4}}, {"a", {2, 3}}}).hash(), hash);
  EXPECT_NE(made({{"a", {2, 3}}, {"c", {4}}}).hash(), hash);
  EXPECT_NE(made({{"a", {2, 3}}}).hash(), hash);
  EXPECT_NE(made({{"x", {}}}).hash(), made({{"x", {1}}}).hash());
}

TEST(LayerMapDecode, RefusesEveryCut) {
  const Bytes bytes = small_net().encode();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A separate copy, so that the address sanitizer detects reads past its end.
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    const auto map = LayerMap::decode(cut);
    ASSERT_FALSE(map.ok()) << size;
    EXPECT_EQ(map.status().code(), StatusCode::corrupt_data);
  }
}

TEST(LayerMapDecode, RefusesTrailingBytes) {
  Bytes bytes = small_net().encode();
  bytes.push_back(0);
  EXPECT_EQ(LayerMap::decode(bytes).status().code(), StatusCode::corrupt_data);
}

// A flipped bit may produce another valid map, but never one with the same hash.
TEST(LayerMapDecode, TakesFlippedBitsForErrorsOrOtherMaps) {
  const LayerMap map = small_net();
  Bytes bytes = map.encode();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::uint8_t>(1 << (bit % 8));
    bytes[bit / 8] ^= mask;
    const auto decoded = LayerMap::decode(bytes);
    if (decoded.ok()) {
      EXPECT_EQ(decoded->encode(), bytes);
      EXPECT_NE(decoded->hash(), map.hash());
    }
    bytes[bit / 8] ^= mask;
  }
}

// A large number must be refused before memory for it is allocated.
TEST(LayerMapDecode, DoesNotTrustTheNumberOfLayers) {
  Bytes bytes = made({}).encode();
  const std::uint32_t count = 0xffffffff;
  std::memcpy(bytes.data() + 6, &count, sizeof(count));
  const Status status = LayerMap::decode(bytes).status();
  EXPECT_EQ(status.text(),
            "corrupt_data: layer map: number of layers: expected at most 0, got 4294967295");
}

TEST(LayerMapDecode, DistinguishesAnotherVersionFromDamage) {
  Bytes bytes = small_net().encode();
  bytes[4] = 2;
  EXPECT_EQ(LayerMap::decode(bytes).status().code(), StatusCode::unsupported);
  bytes[0] = 'X';
  EXPECT_EQ(LayerMap::decode(bytes).status().code(), StatusCode::corrupt_data);
}

// Bytes can describe a map that make() would refuse.
TEST(LayerMapDecode, AppliesTheRulesOfMaking) {
  Bytes bytes;
  ByteWriter writer(bytes);
  ASSERT_TRUE(writer.append(bytes_of("TRLM")).ok());
  ASSERT_TRUE(writer.write(std::uint16_t{1}).ok());
  ASSERT_TRUE(writer.write(std::uint32_t{1}).ok());
  ASSERT_TRUE(writer.write(std::uint16_t{0}).ok());  // an empty name
  ASSERT_TRUE(writer.write(std::uint8_t{0}).ok());
  ASSERT_TRUE(writer.write(std::uint8_t{0}).ok());
  EXPECT_FALSE(LayerMap::decode(bytes).ok());
}

}  // namespace
}  // namespace tributary
