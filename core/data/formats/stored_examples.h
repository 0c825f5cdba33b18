// Examples whose features are bytes in a file. They are read when a batch asks for them, so that a
// data set takes a few bytes of memory per example, however large its file is.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/base/bytes/byte_source.h"
#include "core/data/data_set.h"

namespace tributary {

// A byte b becomes (b / 255 - mean) / deviation. All agents of a job must use the same numbers.
struct FeatureScale {
  double mean = 0;
  double deviation = 1;
  friend bool operator==(const FeatureScale&, const FeatureScale&) = default;
};

// Examples in one source, at equal distances.
struct StoredRun {
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset = 0;  // of the first example's features
  std::uint64_t stride = 0;  // from one example to the next
  std::uint32_t count = 0;
};

struct StoredExamples {
  ExampleShape shape;
  std::vector<StoredRun> runs;
  std::vector<std::uint16_t> labels;
};

// The caller has checked that all examples lie within their sources, and that there is a label for
// each. An error if a label is not one of shape.classes, or if the scale is none.
Result<std::unique_ptr<DataSet>> make_stored(StoredExamples examples, const FeatureScale& scale);

}  // namespace tributary
