// Tests the colours of names with all existing codecs and collectives, which plot/ does not know.
#include "dashboard/plot/data/name_colours.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "core/codec/registry.h"
#include "core/collective/collective_name.h"
#include "core/cost/exchange_shape.h"
#include "dashboard/plot/data/palette.h"

namespace tributary::dashboard {
namespace {

std::vector<QString> known_names() {
  std::vector<QString> names;
  for (const CodecFamily& codec : codec_families()) {
    names.push_back(QString::fromStdString(std::string(codec.name)));
  }
  for (const wire::Collective one : kCollectives) names.push_back(wire::EnumNameCollective(one));
  return names;
}

class NameColours : public testing::TestWithParam<bool> {};

TEST_P(NameColours, EveryCodecAndCollectiveHasOneOfItsOwn) {
  std::map<QRgb, QString> taken;
  for (const QString& name : known_names()) {
    const QColor colour = slot_colour(slot_of_name(name), GetParam());
    const auto [other, is_new] = taken.emplace(colour.rgb(), name);
    EXPECT_TRUE(is_new) << name.toStdString() << " and " << other->second.toStdString();
  }
}

TEST_P(NameColours, AnUnknownNameHasOneThatNoKnownNameHas) {
  std::map<QRgb, QString> taken;
  for (const QString& name : known_names()) {
    taken.emplace(slot_colour(slot_of_name(name), GetParam()).rgb(), name);
  }
  for (int i = 0; i < 100; ++i) {
    const QString name = QString("codec of tomorrow %1").arg(i);
    EXPECT_FALSE(taken.contains(slot_colour(slot_of_name(name), GetParam()).rgb()));
  }
}

TEST_P(NameColours, AreasAndTheTextOnThemAreSeen) {
  const QColor ground = GetParam() ? QColor(24, 26, 30) : QColor(Qt::white);
  std::vector<QString> names = known_names();
  names.insert(names.end(),
               {"ratio 1", "ratio 0.1 to 0.3", "ratio 0.0001 to 0.0003", "unheard of"});
  for (const QString& name : names) {
    const QColor colour = slot_colour(slot_of_name(name), GetParam());
    EXPECT_GE(contrast(colour, ground), 1.2) << name.toStdString();
    EXPECT_GE(std::max(contrast(colour, Qt::white), contrast(colour, QColor(16, 16, 16))), 4.3)
        << name.toStdString();
  }
}

TEST_P(NameColours, TheLessIsKeptTheFurtherFromTheGround) {
  const QColor ground = GetParam() ? QColor(24, 26, 30) : QColor(Qt::white);
  double before = 1;
  for (const char* ratio : {"ratio 1", "ratio 0.3 to 1", "ratio 0.1 to 0.3", "ratio 0.03 to 0.1",
                            "ratio 0.01 to 0.03", "ratio 0.003 to 0.01"}) {
    const double now = contrast(slot_colour(slot_of_name(ratio), GetParam()), ground);
    EXPECT_GT(now, before) << ratio;
    before = now;
  }
}

INSTANTIATE_TEST_SUITE_P(Grounds, NameColours, testing::Bool());

TEST(NameColour, IsIndependentOfTheOrder) {
  EXPECT_EQ(name_without_settings("topk:cr=0.0522"), "topk");
  EXPECT_EQ(name_without_settings("topk, zstd"), "topk");
  EXPECT_EQ(name_without_settings("sharded_star"), "sharded_star");
  EXPECT_EQ(name_without_settings(""), "");
  EXPECT_EQ(slot_of_name("thc:bits=4"), slot_of_name("thc"));
  EXPECT_NE(slot_of_name("star_topk"), slot_of_name("star"));
}

TEST(NameColour, PartsHaveFixedColours) {
  ColourSlots one;
  ColourSlots other;
  for (int i = 0; i < 5; ++i) other.slot_of(QString::number(i));
  EXPECT_EQ(one.slot_of("measured"), other.slot_of("measured"));
  EXPECT_NE(one.slot_of("measured"), one.slot_of("predicted"));
  EXPECT_NE(one.slot_of("compute"), one.slot_of("wait"));
  EXPECT_EQ(one.slot_of("run"), 0u) << "they take no place in the order of arrival";
}

TEST(NameColour, IsTheSameInEveryBuild) {
  // The colours appear in the pictures of the documentation, and users have learned them.
  EXPECT_EQ(slot_colour(slot_of_name("topk"), false).name(), "#ce7133");
  EXPECT_EQ(slot_colour(slot_of_name("codec of tomorrow"), false),
            slot_colour(slot_of_name("codec of tomorrow"), false));
}

}  // namespace
}  // namespace tributary::dashboard
