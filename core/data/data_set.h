// The interface through which trainers read a data set: numbered examples of one shape, gathered
// into batches. Only the loaders (core/data/formats) know whether the examples are in a file or in
// memory, and how they are encoded.
//
// A data set does not change after it has been opened. All members of DataSet may be called from
// any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

// The learning task that a data set is for.
enum class DataTask : std::uint8_t {
  classification,  // features and one label in [0, classes)
  regression,      // features and `outputs` targets
  next_token,      // tokens; the labels are the tokens that follow each of them
};

std::string_view name(DataTask task);

// Properties that all examples of a data set share.
struct ExampleShape {
  DataTask task = DataTask::classification;
  // Dimensions of one example, without the batch: {channels, height, width}, {columns} or {tokens}.
  std::vector<std::uint32_t> dims;
  std::uint32_t classes = 0;  // number of labels, or size of the vocabulary; 0 in a regression
  std::uint32_t outputs = 0;  // targets per example; 0 unless the task is regression

  // Number of features or tokens of one example.
  std::size_t values() const {
    std::size_t product = 1;
    for (const std::uint32_t dim : dims) product *= dim;
    return product;
  }
  friend bool operator==(const ExampleShape&, const ExampleShape&) = default;
};

// Examples one after another, each in row-major order. Arrays that the task does not use are empty.
// A reused batch keeps its memory, so a training loop allocates only for its first batch.
struct Batch {
  std::size_t count = 0;
  FloatVector features;            // count x values, unless the task is next_token
  RawVector<std::int64_t> tokens;  // count x values, only if the task is next_token
  RawVector<std::int64_t> labels;  // count; for next_token count x values; empty in a regression
  FloatVector targets;             // count x outputs, only in a regression
};

// Examples with numbers from 0 to count() - 1.
class DataSet {
 public:
  virtual ~DataSet() = default;

  virtual const ExampleShape& shape() const = 0;
  virtual std::uint32_t count() const = 0;

  // Replaces the content of `out` by the examples with these numbers; a number may occur more than
  // once. Returns invalid_argument if a number is not below count(), or the error of reading the
  // file. After an error the content of `out` is undefined.
  virtual Status gather(std::span<const std::uint32_t> indices, Batch& out) const = 0;

  // One label per example, in order, in a classification; empty otherwise. make_shards() needs them
  // for a skewed distribution.
  virtual std::span<const std::uint16_t> labels() const = 0;
};

// A selection of another data set's examples under new numbers: an agent's shard, or a hold-out
// set. It shares ownership of the whole data set.
class Subset final : public DataSet {
 public:
  // Fails with invalid_argument if an index is not below whole->count().
  static Result<std::unique_ptr<Subset>> make(std::shared_ptr<const DataSet> whole,
                                              std::vector<std::uint32_t> indices);

  const ExampleShape& shape() const override { return whole_->shape(); }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(indices_.size()); }
  Status gather(std::span<const std::uint32_t> indices, Batch& out) const override;
  std::span<const std::uint16_t> labels() const override { return labels_; }

 private:
  Subset(std::shared_ptr<const DataSet> whole, std::vector<std::uint32_t> indices);

  std::shared_ptr<const DataSet> whole_;
  std::vector<std::uint32_t> indices_;
  std::vector<std::uint16_t> labels_;
};

// Examples whose features are kept as floats in memory. CSV files and tests use it.
struct FeatureTable {
  ExampleShape shape;
  FloatVector features;               // count x values
  std::vector<std::uint16_t> labels;  // count, for a classification
  FloatVector targets;                // count x outputs, for a regression
};

// Takes the table after a check that its arrays have the lengths given above and that each label is
// below shape.classes (mismatch), and that the shape has features and classes or outputs
// (invalid_argument).
Result<std::unique_ptr<DataSet>> make_table(FeatureTable table);

// Returns invalid_argument if an index is not below `count`. Loaders call it before they read.
Status check_indices(std::span<const std::uint32_t> indices, std::uint32_t count);

}  // namespace tributary
