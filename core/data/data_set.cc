#include "core/data/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tributary {
namespace {

Status table_fault(std::string_view what, std::size_t expected, std::size_t got) {
  return Status(StatusCode::mismatch, {.what = fmt::format("table of examples: {}", what),
                                       .expected = fmt::format("{}", expected),
                                       .got = fmt::format("{}", got)});
}

// A data set whose examples are rows of arrays in memory.
class Table final : public DataSet {
 public:
  Table(FeatureTable table, std::uint32_t count) : table_(std::move(table)), count_(count) {}

  const ExampleShape& shape() const override { return table_.shape; }
  std::uint32_t count() const override { return count_; }
  std::span<const std::uint16_t> labels() const override { return table_.labels; }

  Status gather(std::span<const std::uint32_t> indices, Batch& out) const override {
    TRIBUTARY_TRY(check_indices(indices, count_));
    out.count = indices.size();
    out.tokens.clear();
    out.labels.clear();
    copy_rows(table_.features, shape().values(), indices, out.features);
    copy_rows(table_.targets, shape().outputs, indices, out.targets);
    if (shape().task == DataTask::classification) {
      for (const std::uint32_t index : indices) out.labels.push_back(table_.labels[index]);
    }
    return {};
  }

 private:
  // Copies the selected rows of `width` values each. A width of 0 gives an empty array, which a
  // task without targets needs.
  static void copy_rows(const FloatVector& rows, std::size_t width,
                        std::span<const std::uint32_t> indices, FloatVector& out) {
    out.resize(indices.size() * width);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::copy_n(rows.data() + indices[i] * width, width, out.data() + i * width);
    }
  }

  const FeatureTable table_;
  const std::uint32_t count_;
};

}  // namespace

std::string_view name(DataTask task) {
  switch (task) {
    case DataTask::classification:
      return "classification";
    case DataTask::regression:
      return "regression";
    case DataTask::next_token:
      return "next_token";
  }
  return "unknown";
}

Status check_indices(std::span<const std::uint32_t> indices, std::uint32_t count) {
  for (const std::uint32_t index : indices) {
    if (index >= count) {
      return Status(StatusCode::invalid_argument,
                    {.what = "example of a data set",
                     .expected = fmt::format("a number below {}", count),
                     .got = fmt::format("{}", index)});
    }
  }
  return {};
}

// Labels are copied, because labels() returns a contiguous span. Indices have been checked by
// make().
Subset::Subset(std::shared_ptr<const DataSet> whole, std::vector<std::uint32_t> indices)
    : whole_(std::move(whole)), indices_(std::move(indices)) {
  const auto labels = whole_->labels();
  if (labels.empty()) return;
  labels_.reserve(indices_.size());
  for (const std::uint32_t index : indices_) labels_.push_back(labels[index]);
}

Result<std::unique_ptr<Subset>> Subset::make(std::shared_ptr<const DataSet> whole,
                                             std::vector<std::uint32_t> indices) {
  TRIBUTARY_TRY(check_indices(indices, whole->count()));
  return std::unique_ptr<Subset>(new Subset(std::move(whole), std::move(indices)));
}

// The check comes first, because a number of the subset is an index of indices_.
Status Subset::gather(std::span<const std::uint32_t> indices, Batch& out) const {
  TRIBUTARY_TRY(check_indices(indices, count()));
  std::vector<std::uint32_t> of_whole;
  of_whole.reserve(indices.size());
  for (const std::uint32_t index : indices) of_whole.push_back(indices_[index]);
  return whole_->gather(of_whole, out);
}

Result<std::unique_ptr<DataSet>> make_table(FeatureTable table) {
  const ExampleShape& shape = table.shape;
  const bool classes = shape.task == DataTask::classification;
  const std::size_t width = shape.values();
  if (shape.task == DataTask::next_token || width == 0 ||
      (classes ? shape.classes : shape.outputs) == 0) {
    return Status(StatusCode::invalid_argument,
                  {.what = "table of examples",
                   .expected = "features, and classes or outputs",
                   .got = fmt::format("a {} of {} values", name(shape.task), width)});
  }
  const std::size_t count = classes ? table.labels.size() : table.targets.size() / shape.outputs;
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return table_fault("examples", std::numeric_limits<std::uint32_t>::max(), count);
  }
  // The number of examples follows from the labels or the targets; the other arrays must agree with
  // it.
  if (table.features.size() != count * width) {
    return table_fault("features", count * width, table.features.size());
  }
  if (table.targets.size() != (classes ? 0 : count * shape.outputs)) {
    return table_fault("targets", classes ? 0 : count * shape.outputs, table.targets.size());
  }
  if (table.labels.size() != (classes ? count : 0)) {
    return table_fault("labels", classes ? count : 0, table.labels.size());
  }
  for (const std::uint16_t label : table.labels) {
    if (label >= shape.classes) return table_fault("a label below", shape.classes, label);
  }
  return std::unique_ptr<DataSet>(
      std::make_unique<Table>(std::move(table), static_cast<std::uint32_t>(count)));
}

}  // namespace tributary
