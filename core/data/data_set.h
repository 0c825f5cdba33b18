// Data sets as trainers see them: numbered examples of one shape, gathered into batches. Where the
// examples are kept (a file, memory) and as what (bytes, floats) is known to the loaders alone.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"

namespace tributary {

enum class DataTask : std::uint8_t {
  classification,  // features, one label in [0, classes)
  regression,      // features, `outputs` targets
  next_token,      // tokens, and as labels the tokens that follow each of them
};

std::string_view name(DataTask task);

// What all examples of a data set have in common.
struct ExampleShape {
  DataTask task = DataTask::classification;
  // Of one example, without the batch: {channels, height, width}, {columns} or {tokens}.
  std::vector<std::uint32_t> dims;
  std::uint32_t classes = 0;  // labels, or the tokens of the vocabulary; 0 in a regression
  std::uint32_t outputs = 0;  // targets of a regression

  std::size_t values() const {
    std::size_t product = 1;
    for (const std::uint32_t dim : dims) product *= dim;
    return product;
  }
  friend bool operator==(const ExampleShape&, const ExampleShape&) = default;
};

// Examples one behind the other, each in row-major order. What the task has not is empty. A batch
// that is used again keeps its memory.
struct Batch {
  std::size_t count = 0;
  FloatVector features;            // count x values, unless the task is next_token
  RawVector<std::int64_t> tokens;  // count x values, if it is
  RawVector<std::int64_t> labels;  // count, or for next_token count x values
  FloatVector targets;             // count x outputs, for a regression
};

// Does not change once it is open; any thread may gather.
class DataSet {
 public:
  virtual ~DataSet() = default;

  virtual const ExampleShape& shape() const = 0;
  virtual std::uint32_t count() const = 0;

  // An index may come more than once. An error if one is not below count(), or if the file can no
  // longer be read; the batch is then of no use.
  virtual Status gather(std::span<const std::uint32_t> indices, Batch& out) const = 0;

  // One per example, in order, for a classification; empty otherwise. What shards are skewed by.
  virtual std::span<const std::uint16_t> labels() const = 0;
};

// Some examples of another data set, under new numbers: an agent's shard, a hold-out.
class Subset final : public DataSet {
 public:
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

// Examples of features that are kept as floats in memory: small tables, and tests.
struct FeatureTable {
  ExampleShape shape;
  FloatVector features;               // count x values
  std::vector<std::uint16_t> labels;  // count, for a classification
  FloatVector targets;                // count x outputs, for a regression
};

Result<std::unique_ptr<DataSet>> make_table(FeatureTable table);

// The error of an index that is not there; loaders call it before they read.
Status check_indices(std::span<const std::uint32_t> indices, std::uint32_t count);

}  // namespace tributary
