// Table VI of the AR-Topk paper: which of three collectives took least time for four models, three
// bandwidths and three ratios, and what the paper's own formulas say of it.
#pragma once

#include <string_view>
#include <vector>

namespace tributary::bench {

struct TableSixRow {
  std::string_view model;
  double gbps = 0;
  double ratio = 0;
  std::string_view measured;  // the quickest in the paper: "AG", "ART-Ring" or "ART-Tree"
  std::string_view predicted;
};

// All 36.
std::vector<TableSixRow> table_six();

}  // namespace tributary::bench
