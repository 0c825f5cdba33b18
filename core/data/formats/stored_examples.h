// Examples whose features are bytes in a file. They are read when a batch needs them, so a data set
// takes two bytes of memory per example (the label), however large its file is.
//
// The set is immutable, and several threads may read it. A read fails only with the source's error.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "core/base/bytes/byte_source.h"
#include "core/data/data_set.h"

namespace tributary {

// A value x becomes (x - mean) / deviation. All agents of a job must use the same scale, because
// otherwise they train different models.
struct FeatureScale {
  double mean = 0;
  double deviation = 1;
  friend bool operator==(const FeatureScale&, const FeatureScale&) = default;
};

// Fails with invalid_argument unless every scale is finite and has a deviation above 0.
Status check_scales(std::span<const FeatureScale> scales);

// A run of examples in one source, at equal distances.
struct StoredRun {
  std::shared_ptr<const ByteSource> source;
  std::uint64_t offset = 0;  // position of the first example's features, in bytes
  std::uint64_t stride = 0;  // from one example to the next, in bytes
  std::uint32_t count = 0;
};

// All runs together have as many examples as `labels` has entries.
struct StoredExamples {
  ExampleShape shape;
  std::vector<StoredRun> runs;
  std::vector<std::uint16_t> labels;
};

// A byte b is the value b / 255, to which the scale applies. The caller guarantees that all
// examples lie within their sources and that each has a label. Fails with mismatch if a label is
// not below shape.classes, and as check_scales() does.
Result<std::unique_ptr<DataSet>> make_stored(StoredExamples examples, const FeatureScale& scale);

}  // namespace tributary
