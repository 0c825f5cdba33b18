#include "bench/plan/table_six.h"

#include <gtest/gtest.h>

namespace tributary::bench {
namespace {

TEST(TableSix, EveryRowIsChosenAsThePaperMeasuredIt) {
  const std::vector<TableSixRow> rows = table_six();
  EXPECT_EQ(rows.size(), 36u);
  for (const TableSixRow& row : rows) {
    EXPECT_EQ(row.predicted, row.measured) << row.model << " " << row.gbps << " " << row.ratio;
  }
}

}  // namespace
}  // namespace tributary::bench
