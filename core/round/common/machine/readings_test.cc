// Tests of the table of readings: every kind has a row, a unique name, a unit and a description.
#include "core/round/common/machine/readings.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"

namespace tributary {
namespace {

TEST(Readings, EachKindHasTheRowAtItsPlace) {
  for (std::size_t i = 0; i < kReadingKinds; ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kReadings[i].kind), i) << kReadings[i].name;
  }
}

TEST(Readings, EachNameIsOfOneKindAndFoundAgain) {
  std::set<std::string_view> names;
  for (const ReadingFacts& facts : kReadings) {
    EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
    EXPECT_EQ(reading_named(facts.name), facts.kind);
    EXPECT_EQ(reading_name(facts.kind), facts.name);
  }
  EXPECT_FALSE(reading_named("board_celsius"));
  EXPECT_FALSE(reading_named(""));
}

TEST(Readings, EachHasAUnitAndADescription) {
  for (const ReadingFacts& facts : kReadings) {
    EXPECT_TRUE(facts.help.ends_with('.')) << facts.name;
    const bool bytes = facts.name.find("_bytes") != facts.name.npos;
    EXPECT_EQ(facts.unit == ReadingUnit::bytes, bytes) << facts.name;
    EXPECT_EQ(facts.unit == ReadingUnit::seconds, facts.name.ends_with("_s")) << facts.name;
  }
}

TEST(Readings, MessagesAndRepeatedBytesHaveAllOfTheirGroups) {
  std::set<ReadingKind> messages;
  for (const MessageUseNames& names : kMessageUseNames) {
    for (const ReadingKind kind : {names.up, names.down}) {
      EXPECT_EQ(facts_of(kind).group, ReadingGroup::messages) << reading_name(kind);
      messages.insert(kind);
    }
    EXPECT_NE(reading_name(names.up).find(names.name), std::string_view::npos);
    EXPECT_NE(reading_name(names.down).find(names.name), std::string_view::npos);
  }
  EXPECT_EQ(messages.size(), readings_in(ReadingGroup::messages));
  std::set<ReadingKind> repeated;
  for (const RepeatedBytes::Field& field : RepeatedBytes::kFields) {
    EXPECT_EQ(facts_of(field.reading).group, ReadingGroup::repeated) << field.cause;
    repeated.insert(field.reading);
  }
  EXPECT_EQ(repeated.size(), readings_in(ReadingGroup::repeated));
}

}  // namespace
}  // namespace tributary
