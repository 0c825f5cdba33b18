#include "core/data/formats/stored_examples.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace tributary {
namespace {

// Maps bytes to floats by a table of 256 entries, which is computed once.
class StoredDataSet final : public DataSet {
 public:
  StoredDataSet(StoredExamples examples, const FeatureScale& scale)
      : examples_(std::move(examples)), values_(examples_.shape.values()) {
    for (std::size_t byte = 0; byte < scaled_.size(); ++byte) {
      const double value = static_cast<double>(byte) / 255.0;
      scaled_[byte] = static_cast<float>((value - scale.mean) / scale.deviation);
    }
  }

  const ExampleShape& shape() const override { return examples_.shape; }
  std::uint32_t count() const override {
    return static_cast<std::uint32_t>(examples_.labels.size());
  }
  std::span<const std::uint16_t> labels() const override { return examples_.labels; }

  Status gather(std::span<const std::uint32_t> indices, Batch& out) const override {
    TRIBUTARY_TRY(check_indices(indices, count()));
    out.count = indices.size();
    out.tokens.clear();
    out.targets.clear();
    out.labels.clear();
    out.features.resize(indices.size() * values_);
    // One read per example: batches are random, so neighbouring reads cannot be merged.
    Bytes bytes(values_);
    float* at = out.features.data();
    for (const std::uint32_t index : indices) {
      TRIBUTARY_TRY(read(index, bytes));
      for (const std::uint8_t byte : bytes) *at++ = scaled_[byte];
      out.labels.push_back(examples_.labels[index]);
    }
    return {};
  }

 private:
  Status read(std::uint32_t index, Bytes& bytes) const {
    // A linear search: a data set has at most 99 runs, and reading an example costs more.
    auto run = examples_.runs.begin();
    while (index >= run->count) index -= (run++)->count;
    return run->source->read(run->offset + index * run->stride, bytes);
  }

  const StoredExamples examples_;
  const std::size_t values_;
  std::array<float, 256> scaled_;
};

}  // namespace

Status check_scales(std::span<const FeatureScale> scales) {
  for (const FeatureScale& scale : scales) {
    if (std::isfinite(scale.mean) && std::isfinite(scale.deviation) && scale.deviation > 0) {
      continue;
    }
    return Status(StatusCode::invalid_argument,
                  {.what = "scale of the features",
                   .expected = "a mean, and a deviation above 0",
                   .got = fmt::format("mean {}, deviation {}", scale.mean, scale.deviation)});
  }
  return {};
}

Result<std::unique_ptr<DataSet>> make_stored(StoredExamples examples, const FeatureScale& scale) {
  TRIBUTARY_TRY(check_scales({&scale, 1}));
  const std::uint32_t classes = examples.shape.classes;
  for (std::size_t i = 0; i < examples.labels.size(); ++i) {
    if (examples.labels[i] < classes) continue;
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("label of example {}", i),
                   .expected = fmt::format("a number below {}, the number of classes", classes),
                   .got = fmt::format("{}", examples.labels[i]),
                   .remedy = "state the right number of classes, or check the file of labels"});
  }
  return std::unique_ptr<DataSet>(std::make_unique<StoredDataSet>(std::move(examples), scale));
}

}  // namespace tributary
