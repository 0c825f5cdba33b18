// Tests of the filter language of tables.
#include "dashboard/tables/table_filter.h"

#include <gtest/gtest.h>

#include "dashboard/tables/cells/tables_testing.h"
#include "dashboard/tables/models/agents_model.h"

namespace tributary::dashboard {
namespace {

class TableFilterTest : public testing::Test {
 protected:
  TableFilterTest() {
    RunChanges changes;
    changes.agents = tables_testing::some_agents(3);
    (*changes.agents)[1].connected = false;
    (*changes.agents)[2].device = "Raspberry: Pi";
    RunView view;
    view.apply(std::move(changes));
    model_.update(view, tables_testing::kTestJob);
  }
  std::vector<int> left_by(const QString& line) {
    const TableFilter filter(line, model_.columns());
    std::vector<int> rows;
    for (int row = 0; row < model_.rowCount(); ++row) {
      if (filter.accepts(model_, row)) rows.push_back(row);
    }
    return rows;
  }
  using Rows = std::vector<int>;

  AgentsModel model_;
};

TEST_F(TableFilterTest, NothingTypedLeavesAll) {
  EXPECT_EQ(left_by(""), (Rows{0, 1, 2}));
  EXPECT_EQ(left_by("   "), (Rows{0, 1, 2}));
  EXPECT_EQ(left_by("\"\""), (Rows{0, 1, 2}));
  EXPECT_TRUE(TableFilter("  ", model_.columns()).empty());
}

TEST_F(TableFilterTest, EveryWordMustBeSomewhere) {
  EXPECT_EQ(left_by("AGENT-2"), (Rows{1}));
  EXPECT_EQ(left_by("orin connected"), (Rows{0}));
  EXPECT_EQ(left_by("orin nowhere"), Rows{});
}

TEST_F(TableFilterTest, AWordWithAColumnIsLookedForThere) {
  EXPECT_EQ(left_by("state:away"), (Rows{1}));
  EXPECT_EQ(left_by("STATE:con device:nx"), (Rows{0}));
  EXPECT_EQ(left_by("device:away"), Rows{});
  EXPECT_EQ(left_by("device:\"orin nano\""), (Rows{1}));
  EXPECT_EQ(left_by("dev:nano"), (Rows{1})) << "a beginning that only one column has";
  EXPECT_EQ(left_by("state:"), (Rows{0, 1, 2})) << "not typed to its end";
}

TEST_F(TableFilterTest, AColonAfterNoColumnIsPartOfTheWord) {
  EXPECT_EQ(left_by("raspberry:"), (Rows{2}));
  EXPECT_EQ(left_by("\"Raspberry: Pi\""), (Rows{2}));
  EXPECT_EQ(left_by("r:x"), Rows{}) << "several columns begin so, none is called so";
}

TEST_F(TableFilterTest, LongInputIsBounded) {
  EXPECT_EQ(left_by(QString(100'000, 'x')), Rows{});
  QString line;
  for (int i = 0; i < 100; ++i) line += "a ";
  EXPECT_EQ(left_by(line + "nowhere"), (Rows{0, 1, 2})) << "words beyond the limit do not count";
}

}  // namespace
}  // namespace tributary::dashboard
