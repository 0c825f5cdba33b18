#include "core/train/training_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/nearest.h"
#include "core/round/model_rule.h"
#include "schemas/frame_generated.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 3> kTasks = {"classification", "regression", "next_token"};
constexpr std::array<std::string_view, 5> kKeys = {"task", "input", "classes", "outputs", "epochs"};
constexpr std::uint64_t kExampleValuesMax = 1u << 28;
constexpr std::size_t kDimsMax = 8;

Result<std::uint32_t> number_of(std::string_view what, std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", what),
                                               .expected = "a whole number",
                                               .got = fmt::format("'{}'", text),
                                               .remedy = "correct the job"});
}

Status bad_input(std::string_view text) {
  return Status(StatusCode::invalid_argument, {.what = "job: input",
                                               .expected = "SIZExSIZE..., as 1x28x28",
                                               .got = fmt::format("'{}'", text),
                                               .remedy = "write down the shape of one example"});
}

Status read_setting(std::string_view key, std::string_view value, ShapeText& shape,
                    std::uint32_t& epochs) {
  if (key == "task") {
    shape.task = value;
  } else if (key == "input") {
    shape.input = value;
  } else if (key == "classes") {
    TRIBUTARY_ASSIGN(shape.classes, number_of(key, value));
  } else if (key == "outputs") {
    TRIBUTARY_ASSIGN(shape.outputs, number_of(key, value));
  } else if (key == "epochs") {
    TRIBUTARY_ASSIGN(epochs, number_of(key, value));
  } else {
    return Status(StatusCode::unsupported, {.what = "job: data",
                                            .expected = "settings that this version knows",
                                            .got = fmt::format("'{}'", key),
                                            .remedy = did_you_mean(key, kKeys)});
  }
  return {};
}

}  // namespace

Result<ExampleShape> parse_shape(const ShapeText& text) {
  const auto task = std::ranges::find(kTasks, text.task);
  if (task == kTasks.end()) {
    return Status(StatusCode::invalid_argument, {.what = "job: task",
                                                 .expected = "one of a few words",
                                                 .got = fmt::format("'{}'", text.task),
                                                 .remedy = did_you_mean(text.task, kTasks)});
  }
  ExampleShape shape;
  shape.task = static_cast<DataTask>(task - kTasks.begin());
  shape.classes = text.classes;
  shape.outputs = text.outputs;
  std::string_view rest = text.input;
  std::uint64_t values = 1;
  while (true) {
    const std::size_t cross = rest.find('x');
    const Result<std::uint32_t> size = number_of("input", rest.substr(0, cross));
    if (!size.ok() || *size == 0 || values * *size > kExampleValuesMax ||
        shape.dims.size() == kDimsMax) {
      return bad_input(text.input);
    }
    values *= *size;
    shape.dims.push_back(*size);
    if (cross == std::string_view::npos) return shape;
    rest.remove_prefix(cross + 1);
  }
}

std::string describe(const ExampleShape& shape) {
  const std::string dims = fmt::format("{}", fmt::join(shape.dims, "x"));
  if (shape.task == DataTask::regression)
    return fmt::format("{} to {} outputs", dims, shape.outputs);
  return fmt::format("{} {} of {} classes", dims,
                     shape.task == DataTask::next_token ? "tokens" : "features", shape.classes);
}

Result<TrainingJob> training_job(const wire::Job& job) {
  TrainingJob training = {.job = job.job(),
                          .revision = job.revision(),
                          .seed = job.seed(),
                          .gradient = job.mode() == wire::ExchangeMode::gradient,
                          .script = job.model()->kind() == wire::ModelKind::torchscript,
                          .model = job.model()->name()->str(),
                          .layer_map_hash = job.layer_map()->hash(),
                          .clip_norm = job.clip_norm(),
                          .clip_value = job.clip_value()};
  if (job.model()->artifact()) training.model_file_hash = job.model()->artifact()->hash();
  if (job.loss() && job.loss()->size() > 0) training.loss = job.loss()->str();
  if (job.batch_size() > 0) training.batch_size = job.batch_size();
  TRIBUTARY_ASSIGN(training.optimizer, optimizer_settings(*job.optimizer()));
  if (job.strategy() && job.strategy()->size() > 0) {
    TRIBUTARY_ASSIGN(const Strategy strategy, parse_strategy(job.strategy()->string_view()));
    training.proximal = strategy.proximal;
  }
  ShapeText shape;
  for (std::uint32_t i = 0; job.data() && i < job.data()->size(); ++i) {
    const wire::Setting& setting = *job.data()->Get(i);
    TRIBUTARY_TRY(
        read_setting(setting.key() ? setting.key()->string_view() : std::string_view(),
                     setting.value() ? setting.value()->string_view() : std::string_view(), shape,
                     training.epochs));
  }
  TRIBUTARY_ASSIGN(training.input, parse_shape(shape));
  return training;
}

}  // namespace tributary
