// Table VI of the AR-Topk paper: the fastest of three collectives for four models, three bandwidths
// and three ratios, and the prediction of the paper's own formulas.
#pragma once

#include <string_view>
#include <vector>

namespace tributary::bench {

struct TableSixRow {
  std::string_view model;
  double gbps = 0;
  double ratio = 0;
  std::string_view measured;  // the fastest in the paper: "AG", "ART-Ring" or "ART-Tree"
  std::string_view predicted;
};

// All 36 rows.
std::vector<TableSixRow> table_six();

}  // namespace tributary::bench
