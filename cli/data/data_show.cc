// tributary data show: describes the content of a data set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/data/data_options.h"
#include "cli/data/data_picture.h"
#include "cli/json.h"
#include "cli/text.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Limits of the output: examples measured for the range, examples printed, and the length of the
// longest bar in characters.
constexpr std::uint32_t kSampled = 2000;
constexpr std::uint32_t kExamplesMax = 100;
constexpr std::size_t kBarWidth = 40;

struct DataShowOptions {
  DataRequest request;
  std::uint32_t examples = 1;
};

// The range of all features of the sampled examples together.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double mean = 0;
  double deviation = 0;
};

// Uses up to kSampled examples, evenly spaced over the data set.
Result<Range> measure(const DataSet& data) {
  Range range;
  double squares = 0;
  double count = 0;
  Batch batch;
  const std::uint32_t examples = std::min(data.count(), kSampled);
  for (std::uint64_t i = 0; i < examples; ++i) {
    const auto index = static_cast<std::uint32_t>(i * data.count() / examples);
    TRIBUTARY_TRY(data.gather({&index, 1}, batch));
    for (const double value : batch.features) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
      range.mean += value;
      squares += value * value;
      count += 1;
    }
  }
  // Variance from the sums; rounding can make it slightly negative.
  range.mean /= count;
  range.deviation = std::sqrt(std::max(0.0, squares / count - range.mean * range.mean));
  return range;
}

// Number of examples of each class; empty for data without classes.
std::vector<std::uint64_t> histogram(const DataSet& data) {
  std::vector<std::uint64_t> counts;
  if (data.labels().empty()) return counts;
  counts.resize(data.shape().classes);
  for (const std::uint16_t label : data.labels()) ++counts[label];
  return counts;
}

// The bar of the largest class has kBarWidth characters. `counts` must not be empty.
std::string histogram_text(const std::vector<std::uint64_t>& counts) {
  const std::uint64_t most = std::max<std::uint64_t>(1, *std::ranges::max_element(counts));
  std::string text = "\n";
  for (std::size_t label = 0; label < counts.size(); ++label) {
    text += fmt::format("  class {:>3}  {:>9}  {}\n", label, count_text(counts[label]),
                        std::string(counts[label] * kBarWidth / most, '#'));
  }
  return text;
}

// Only pictures and texts can be printed. The examples of other data give an empty text.
Result<std::string> examples_text(const DataShowOptions& options, const DataSet& data) {
  std::string text;
  for (std::uint32_t i = 0; i < std::min(options.examples, data.count()); ++i) {
    TRIBUTARY_ASSIGN(const std::string picture,
                     example_text(data, i, options.request.text.vocabulary));
    if (picture.empty()) break;
    text += fmt::format("\nexample {}", i);
    if (!data.labels().empty()) text += fmt::format(", class {}", data.labels()[i]);
    text += "\n" + picture;
  }
  return text;
}

Result<Answer> show(const DataShowOptions& options) {
  TRIBUTARY_ASSIGN(const OpenedData opened, open_data(options.request));
  const DataSet& data = *opened.data;
  const ExampleShape& shape = data.shape();
  Answer answer;
  answer.text = fmt::format("{}, {}\n\n", name(opened.format), name(shape.task));
  for (const std::string& file : opened.files) {
    answer.text += fmt::format("  file      {}\n", printable(file));
  }
  answer.text += fmt::format("  examples  {}\n  shape     {}\n", count_text(data.count()),
                             fmt::join(shape.dims, " x "));
  Json json = {{"format", name(opened.format)}, {"task", name(shape.task)},
               {"files", opened.files},         {"count", data.count()},
               {"shape", shape.dims},           {"classes", shape.classes},
               {"outputs", shape.outputs}};
  if (shape.classes > 0) answer.text += fmt::format("  classes   {}\n", shape.classes);
  // The numbers of a text are indices of characters, and their range says nothing.
  if (shape.task != DataTask::next_token && data.count() > 0) {
    TRIBUTARY_ASSIGN(const Range range, measure(data));
    answer.text += fmt::format("  features  {:.4g} to {:.4g}, mean {:.4f}, deviation {:.4f}\n",
                               range.low, range.high, range.mean, range.deviation);
    json["features"] = {{"min", range.low},
                        {"max", range.high},
                        {"mean", range.mean},
                        {"deviation", range.deviation}};
  }
  if (!opened.columns.empty()) json["columns"] = opened.columns;
  const std::vector<std::uint64_t> counts = histogram(data);
  if (!counts.empty()) {
    answer.text += histogram_text(counts);
    json["histogram"] = counts;
  }
  TRIBUTARY_ASSIGN(const std::string examples, examples_text(options, data));
  answer.text += examples;
  answer.data = json_text(json);
  return answer;
}

}  // namespace

Command data_show_command() {
  const auto options = std::make_shared<DataShowOptions>();
  Command command = {
      .noun = "data",
      .verb = "show",
      .summary = "describe a data set",
      .details =
          "Reads IDX (the MNIST family, also .gz), CIFAR-10 and CIFAR-100 (binary), CSV and "
          "text.\n\n"
          "examples:\n"
          "  tributary data show digits\n"
          "  tributary data show digits --part test --examples 3\n"
          "  tributary data show flowers.csv --classes 3 --label kind --json",
      .options = data_options(options->request),
      .run = [options](World&) { return show(*options); }};
  command.options.push_back({.name = "--examples",
                             .value_name = "N",
                             .help = "number of examples to print (1)",
                             .accept = accept_count(options->examples, 0u, kExamplesMax)});
  return command;
}

}  // namespace tributary
