// Tests of the journal's settings with both names of the durability.
#include "core/service/settings/journal_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tributary {
namespace {

using testing::HasSubstr;

Result<Durability> read_durability(const std::vector<std::string>& assignments) {
  JournalSettings journal;
  Settings settings;
  journal.bind(settings);
  for (const std::string& assignment : assignments) {
    if (Status status = settings.assign(assignment); !status.ok()) return status;
  }
  if (Status status = journal.settle(settings, "rounds"); !status.ok()) return status;
  return journal.durability();
}

TEST(JournalSettings, DurabilityHasThreeValues) {
  EXPECT_EQ(read_durability({"journal.file=run.db"}).value(), Durability::seconds_30);
  EXPECT_EQ(read_durability({"journal.file=run.db", "journal.durability=round"}).value(),
            Durability::round);
  EXPECT_EQ(read_durability({"journal.file=run.db", "journal.durability=30s"}).value(),
            Durability::seconds_30);
  EXPECT_EQ(read_durability({"journal.file=run.db", "journal.durability=\"stop\""}).value(),
            Durability::stop);
  EXPECT_THAT(read_durability({"journal.file=run.db", "journal.durability=never"}).status().text(),
              testing::AllOf(HasSubstr("setting journal.durability"),
                             HasSubstr("round, 30s or stop"), HasSubstr("never")));
}

TEST(JournalSettings, SyncIsAnEarlierName) {
  EXPECT_EQ(read_durability({"journal.file=run.db", "journal.sync=true"}).value(),
            Durability::round);
  EXPECT_EQ(read_durability({"journal.file=run.db", "journal.sync=false"}).value(),
            Durability::stop);
  EXPECT_THAT(
      read_durability({"journal.file=run.db", "journal.sync=true", "journal.durability=round"})
          .status()
          .text(),
      HasSubstr("journal.sync or journal.durability, not both"));
}

TEST(JournalSettings, AJournalNeedsAFile) {
  EXPECT_THAT(read_durability({}).status().text(),
              testing::AllOf(HasSubstr("journal.file"), HasSubstr("keeps rounds")));
}

}  // namespace
}  // namespace tributary
