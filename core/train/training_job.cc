#include "core/train/training_job.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "core/base/nearest.h"
#include "core/round/common/plan/model_rule.h"
#include "core/train/shape_text.h"
#include "schemas/frame_generated.h"

namespace tributary {
namespace {

// Keys of the job's data settings, written by core/job.
constexpr std::array<std::string_view, 5> kKeys = {"task", "input", "classes", "outputs", "epochs"};

Result<std::uint32_t> number_of(std::string_view what, std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", what),
                                               .expected = "a whole number",
                                               .got = fmt::format("'{}'", text),
                                               .remedy = "correct the job"});
}

// An unknown key is an error: a newer coordinator may expect the agent to obey it.
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
  if (const wire::Artifact* file = job.model()->artifact()) {
    training.model_file_hash = file->hash();
    if (file->content()) {
      training.model_file.assign(file->content()->begin(), file->content()->end());
    }
  }
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
  if (!shape.input.empty()) {  // a synthetic job has no input
    TRIBUTARY_ASSIGN(training.input, parse_shape(shape));
  }
  return training;
}

}  // namespace tributary
