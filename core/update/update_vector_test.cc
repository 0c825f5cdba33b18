#include "core/update/update_vector.h"

#include <gtest/gtest.h>

#include <limits>

namespace tributary {
namespace {

std::shared_ptr<const LayerMap> shared_map(std::vector<LayerShape> shapes) {
  return std::make_shared<const LayerMap>(*LayerMap::make(std::move(shapes)));
}

std::shared_ptr<const LayerMap> small_map() {
  return shared_map({{"a", {2, 3}}, {"none", {0}}, {"b", {3000}}, {"c", {}}});
}

UpdateVector made(std::shared_ptr<const LayerMap> map) {
  return std::move(UpdateVector::make(std::move(map))).value();
}

TEST(UpdateVector, StartsAsZerosOnACacheLine) {
  const UpdateVector update = made(small_map());
  ASSERT_EQ(update.values().size(), 3007u);
  for (float value : update.values()) EXPECT_EQ(value, 0.0f);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(update.values().data()) % 64, 0u);
  EXPECT_EQ(made(shared_map({})).values().size(), 0u);
}

TEST(UpdateVector, ViewsAreTheLayersOfTheFlatVector) {
  UpdateVector update = made(small_map());
  for (const Layer& layer : update.map().layers()) {
    EXPECT_EQ(update.layer(layer).size(), layer.count);
    for (float& value : update.layer(layer)) value = static_cast<float>(layer.offset + 1);
  }
  EXPECT_EQ(update.values()[5], 1.0f);
  EXPECT_EQ(update.values()[6], 7.0f);
  EXPECT_EQ(update.values()[3006], 3007.0f);
  EXPECT_EQ(update.run(5, 2)[0], 1.0f);
  EXPECT_EQ(update.run(5, 2)[1], 7.0f);
  EXPECT_EQ(update.run(3007, 0).size(), 0u);
}

TEST(UpdateVector, ScalesAndAdds) {
  const auto map = small_map();
  UpdateVector sum = made(map);
  UpdateVector other = made(map);
  for (std::size_t i = 0; i < other.values().size(); ++i) other.values()[i] = static_cast<float>(i);
  ASSERT_TRUE(sum.add(other).ok());
  sum.scale(0.5f);
  ASSERT_TRUE(sum.add(other).ok());
  for (std::size_t i = 0; i < sum.values().size(); ++i) {
    ASSERT_EQ(sum.values()[i], 1.5f * static_cast<float>(i));
  }
  sum.set_zero();
  for (float value : sum.values()) ASSERT_EQ(value, 0.0f);
}

TEST(UpdateVector, AddsWhatHasEqualLayersOnly) {
  UpdateVector update = made(small_map());
  EXPECT_TRUE(update.add(made(small_map())).ok());
  // As many values, but other layers.
  const Status status = update.add(made(shared_map({{"a", {3007}}})));
  EXPECT_EQ(status.code(), StatusCode::mismatch);
}

TEST(UpdateVector, NamesTheFirstValueThatIsNotFinite) {
  UpdateVector update = made(small_map());
  EXPECT_TRUE(update.check_finite().ok());
  update.values()[3006] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(update.check_finite().text(),
            "not_finite: layer 'c', value 0 of 1: expected a finite number, got nan");
  update.values()[2006] = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(update.check_finite().text(),
            "not_finite: layer 'b', value 2000 of 3000: expected a finite number, got -inf");
}

TEST(FirstNotFinite, LooksAtEveryValue) {
  FloatVector values(2100, std::numeric_limits<float>::max());
  values[7] = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(first_not_finite(values), std::nullopt);
  EXPECT_EQ(first_not_finite({}), std::nullopt);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float before = values[i];
    values[i] = i % 2 ? std::numeric_limits<float>::infinity()
                      : std::numeric_limits<float>::signaling_NaN();
    ASSERT_EQ(first_not_finite(values), i);
    values[i] = before;
  }
}

}  // namespace
}  // namespace tributary
