#include "core/train/agent_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/nearest.h"
#include "core/data/formats/open.h"
#include "core/data/shards.h"

namespace tributary {
namespace {

Result<DataFormat> format_of(const DataSource& source, std::string_view table) {
  const std::span<const std::string_view> names = data_format_names();
  const auto format = std::ranges::find(names, source.format);
  if (format != names.end()) return static_cast<DataFormat>(format - names.begin());
  return Status(StatusCode::invalid_argument, {.what = fmt::format("setting {}.format", table),
                                               .expected = "a format that this version reads",
                                               .got = fmt::format("'{}'", source.format),
                                               .remedy = did_you_mean(source.format, names)});
}

// The number of classes is the job's: a shard may lack the highest ones.
Result<DataRequest> request_of(const DataSource& source, const TrainingJob& job) {
  DataRequest request;
  TRIBUTARY_ASSIGN(request.format, format_of(source, "data"));
  request.path = source.path;
  request.classes = job.input.classes;
  request.scales = job.layout.scales;
  const bool labels = job.input.task == DataTask::classification;
  request.csv = {.label = job.layout.label,
                 .classes = labels ? job.input.classes : 0,
                 .separator = job.layout.separator};
  // A window has as many characters as the model has inputs.
  if (job.input.task == DataTask::next_token) {
    const bool bytes = job.input.classes == vocabulary_size(TextVocabulary::bytes);
    request.text = {.tokens = static_cast<std::uint32_t>(job.input.values()),
                    .vocabulary = bytes ? TextVocabulary::bytes : TextVocabulary::printable};
  }
  return request;
}

// All agents compute all shards from the same seed and take their own, so no agent has to be asked.
Result<std::vector<std::uint32_t>> own_examples(const DataSet& whole, const DataSource& source,
                                                const TrainingJob& job) {
  TRIBUTARY_ASSIGN(
      auto shards,
      make_shards({.seed = job.seed, .agents = source.shards, .dirichlet_alpha = source.skew},
                  whole.count(), whole.labels(), job.input.classes));
  if (source.shard < shards.size()) return std::move(shards[source.shard]);
  return Status(StatusCode::invalid_argument,
                {.what = "setting data.shard",
                 .expected = fmt::format("a number below data.shards, which is {}", source.shards),
                 .got = fmt::format("{}", source.shard),
                 .remedy = "the first shard is 0"});
}

// The agent's shard, divided into training and hold-out examples.
Result<TrainingData> own_data(std::shared_ptr<const DataSet> whole, const DataSource& source,
                              const TrainingJob& job) {
  const double kept_back = source.evaluate ? source.hold_out : 0;
  if (source.shards <= 1 && kept_back == 0) {
    return TrainingData{.train = std::move(whole), .hold_out = nullptr};
  }
  TRIBUTARY_ASSIGN(std::vector<std::uint32_t> examples, own_examples(*whole, source, job));
  TRIBUTARY_ASSIGN(Split split,
                   split_holdout(std::move(examples), kept_back, job.seed, source.shard));
  TrainingData data;
  if (!split.holdout.empty()) {
    TRIBUTARY_ASSIGN(data.hold_out, Subset::make(whole, std::move(split.holdout)));
  }
  TRIBUTARY_ASSIGN(data.train, Subset::make(std::move(whole), std::move(split.train)));
  return data;
}

}  // namespace

Status check_data_source(const DataSource& source, std::string_view table) {
  const auto wrong_path = [&](StatusCode code, std::string got) {
    return Status(code, {.what = fmt::format("setting {}.path", table),
                         .expected = "a folder or a file of examples",
                         .got = std::move(got),
                         .remedy = "set it to the data; 'tributary data make' makes some to try"});
  };
  if (source.path.empty()) return wrong_path(StatusCode::invalid_argument, "nothing");
  std::error_code error;
  const bool exists = std::filesystem::exists(source.path, error);
  if (error) {
    return wrong_path(StatusCode::io_error, fmt::format("'{}': {}", source.path, error.message()));
  }
  if (!exists) {
    return wrong_path(StatusCode::not_found,
                      fmt::format("'{}', which does not exist", source.path));
  }
  return format_of(source, table).status();
}

Result<TrainingData> open_training_data(const DataSource& source, const TrainingJob& job) {
  TRIBUTARY_ASSIGN(DataRequest request, request_of(source, job));
  TRIBUTARY_ASSIGN(OpenedData train, open_data(request));
  TRIBUTARY_ASSIGN(TrainingData data, own_data(std::move(train.data), source, job));
  if (!source.evaluate || data.hold_out) return data;
  request.part = DataPart::test;
  Result<OpenedData> test = open_data(request);
  // A folder may have no test part. A single file is found again as its own test part, so it is
  // compared with the training files.
  if (!test.ok() && test.status().code() != StatusCode::not_found) return test.status();
  if (test.ok() && test->files != train.files) data.hold_out = std::move(test->data);
  return data;
}

}  // namespace tributary
