#include "core/train/training_job.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "core/base/nearest.h"
#include "core/round/common/plan/model_rule.h"
#include "core/train/shape_text.h"
#include "schemas/frame_generated.h"

namespace tributary {
namespace {

Result<std::uint32_t> number_of(std::string_view what, std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", what),
                                               .expected = "a whole number",
                                               .got = fmt::format("'{}'", text),
                                               .remedy = "correct the job"});
}

// The job's data settings by key, as core/job writes them. Values are the defaults.
std::map<std::string_view, std::string> default_texts() {
  return {{"task", "classification"}, {"input", ""},   {"classes", "0"},
          {"outputs", "0"},           {"epochs", "0"}, {"label", ""},
          {"separator", ""},          {"mean", ""},    {"deviation", ""}};
}

// An unknown key is an error: a newer coordinator may expect the agent to obey it.
Status unknown_key(std::string_view key, const std::map<std::string_view, std::string>& texts) {
  std::vector<std::string_view> known;
  for (const auto& [name, text] : texts) known.push_back(name);
  return {StatusCode::unsupported,
          {.what = "job: data",
           .expected = "settings that this version knows",
           .got = fmt::format("'{}'", key),
           .remedy = did_you_mean(key, known)}};
}

Result<std::map<std::string_view, std::string>> data_texts(const wire::Job& job) {
  std::map<std::string_view, std::string> texts = default_texts();
  for (std::uint32_t i = 0; job.data() && i < job.data()->size(); ++i) {
    const wire::Setting& setting = *job.data()->Get(i);
    const std::string_view key = setting.key() ? setting.key()->string_view() : "";
    const auto found = texts.find(key);
    if (found == texts.end()) return unknown_key(key, texts);
    found->second = setting.value() ? setting.value()->str() : "";
  }
  return texts;
}

Status read_data_settings(const wire::Job& job, TrainingJob& training) {
  TRIBUTARY_ASSIGN(auto texts, data_texts(job));
  TRIBUTARY_ASSIGN(training.epochs, number_of("epochs", texts["epochs"]));
  TRIBUTARY_ASSIGN(training.layout, parse_layout({.label = texts["label"],
                                                  .separator = texts["separator"],
                                                  .mean = texts["mean"],
                                                  .deviation = texts["deviation"]}));
  ShapeText shape = {.task = texts["task"], .input = texts["input"]};
  TRIBUTARY_ASSIGN(shape.classes, number_of("classes", texts["classes"]));
  TRIBUTARY_ASSIGN(shape.outputs, number_of("outputs", texts["outputs"]));
  if (shape.input.empty()) return {};  // a synthetic job has no input
  TRIBUTARY_ASSIGN(training.input, parse_shape(shape));
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
  TRIBUTARY_TRY(read_data_settings(job, training));
  return training;
}

}  // namespace tributary
