// How agents read the files of a job's data. It is part of the job, because all agents must read
// alike.
//
// Plain values. The layout decides how numbers become features, so a difference between two agents
// would make them train different models; the definition therefore carries it.
#pragma once

#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/data/formats/stored_examples.h"

namespace tributary {

// As it stands in a job definition. Empty: the default.
struct DataLayoutText {
  std::string label = {};      // CSV: column, a name in the header or a number from 1; the last one
  std::string separator = {};  // CSV: one character, or "tab"; a comma
  // Numbers joined by commas: one for all features, or, for CSV, one for each column.
  std::string mean = {};       // 0
  std::string deviation = {};  // 1
};

struct DataLayout {
  std::string label = {};
  char separator = ',';
  std::vector<FeatureScale> scales = {};  // none: features stay as they are
};

// Fails with invalid_argument: a separator of several characters, a text that is no number, a
// deviation that is not positive, or two lists of different lengths.
Result<DataLayout> parse_layout(const DataLayoutText& text);

}  // namespace tributary
