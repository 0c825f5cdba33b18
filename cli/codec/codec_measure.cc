// tributary codec measure: measures the size, the error and the speed of codecs on given updates.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/accept.h"
#include "cli/codec/measure_row.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/text.h"
#include "core/base/files/file.h"
#include "core/codec/measure.h"
#include "core/codec/payload.h"
#include "core/job/job_settings.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Limit of one file. All updates are held in memory at the same time.
constexpr std::uint64_t kFileBytesMax = 16ull << 30;
// An index into this list is an option's value: 0 is the scalar specification, 1 the vectorized
// code.
constexpr std::array<std::string_view, 2> kBackends = {"scalar", "simd"};

// Unlike `codec compare`, this command has no default codec and no default update.
struct MeasureCommand {
  std::vector<std::unique_ptr<Codec>> codecs;
  std::vector<std::string> files;
  MeasureOptions measure;
  std::vector<LayerShape> layers;
  std::size_t backend = 1;  // index into kBackends
  std::size_t threads = 1;
};

// Most codecs refuse NaN and Inf. The check names the file and the element, which the codec could
// not.
Status check_update(const std::string& path, std::span<const float> update,
                    const std::string& first_path, std::size_t first_size) {
  if (update.empty()) {
    return Status(StatusCode::invalid_argument, {.what = path,
                                                 .expected = "one value or more",
                                                 .got = "an empty file",
                                                 .remedy = "remove the file from the command"});
  }
  if (update.size() != first_size) {
    return Status(StatusCode::mismatch,
                  {.what = path,
                   .expected = fmt::format("{} values, as in {}", first_size, first_path),
                   .got = fmt::format("{}", update.size()),
                   .remedy = "use updates of the same model"});
  }
  const auto bad = std::ranges::find_if_not(update, [](float x) { return std::isfinite(x); });
  if (bad == update.end()) return {};
  return Status(StatusCode::not_finite,
                {.what = fmt::format("{}: element {}", path, bad - update.begin()),
                 .expected = "a finite number",
                 .got = fmt::format("{}", *bad),
                 .remedy = "fix the program that wrote the file"});
}

// All files must have the length of the first one. Memory is the sum of the files.
Result<std::vector<FloatVector>> read_updates(const std::vector<std::string>& files) {
  std::vector<FloatVector> updates;
  for (const std::string& path : files) {
    TRIBUTARY_ASSIGN(FloatVector update, read_f32_file(path, kFileBytesMax));
    updates.push_back(std::move(update));
    TRIBUTARY_TRY(check_update(path, updates.back(), files[0], updates[0].size()));
  }
  return updates;
}

Result<Answer> measure_all(const MeasureCommand& command, World& world) {
  TRIBUTARY_ASSIGN(const std::vector<FloatVector> updates, read_updates(command.files));
  const std::vector<std::span<const float>> spans(updates.begin(), updates.end());
  // Without --layer the map is empty and not used: a bucket is then one layer.
  TRIBUTARY_ASSIGN(const LayerMap layers, LayerMap::make(command.layers));
  ThreadPool pool(command.threads);
  Json rows = Json::array();
  std::vector<std::string> header = cost_header();
  header.insert(header.end(), {"NMSE", "NMSE of last round"});
  std::ranges::copy(speed_header(), std::back_inserter(header));
  // Cells must have the order of the header.
  Table table(std::move(header));
  for (const auto& codec : command.codecs) {
    MeasureOptions options = command.measure;
    if (!command.layers.empty()) options.layers = &layers;
    options.backend = command.backend == 0 ? Backend::scalar : Backend::simd;
    options.pool = &pool;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      return world.progress.report(codec->spec(), done, total);
    };
    Result<MeasureReport> report = measure(*codec, spans, options, world.clock);
    if (!report.ok()) return std::move(report).status().at(codec->spec());

    std::vector<std::string> cells = cost_cells(*codec, *report);
    cells.insert(cells.end(), {error_text(report->nmse), error_text(report->nmse_last)});
    std::ranges::copy(speed_cells(*report), std::back_inserter(cells));
    table.add(std::move(cells));
    Json row = {{"codec", codec->spec()},
                {"agents", updates.size()},
                {"values", updates[0].size()},
                {"rounds", options.rounds},
                {"threads", pool.threads()}};
    row.update(measure_json(*report));
    rows.push_back(std::move(row));
  }
  Answer answer;
  answer.text = fmt::format(
      "{} {} with {} values, {} {}, error feedback {}\n\n{}\n"
      "up, down: ratio of the bytes sent by and to one agent. NMSE: error of the decoded mean, "
      "summed over the rounds.\nSpeeds: float32 bytes of one agent, on {} {}.\n",
      updates.size(), updates.size() == 1 ? "agent" : "agents", count_text(updates[0].size()),
      command.measure.rounds, command.measure.rounds == 1 ? "round" : "rounds",
      command.measure.error_feedback ? "on" : "off", table.text(), pool.threads(),
      pool.threads() == 1 ? "thread" : "threads");
  // With one codec the answer is its row, with several a list. Scripts rely on both forms.
  answer.data = json_text(rows.size() == 1 ? rows[0] : Json{{"codecs", std::move(rows)}});
  return answer;
}

}  // namespace

Command codec_measure_command() {
  const auto command = std::make_shared<MeasureCommand>();
  return {
      .noun = "codec",
      .verb = "measure",
      .summary = "measure size, error and speed of codecs on given updates",
      .details =
          "Every --in file is the update of one agent: little-endian float32, all of the same "
          "length. The\nupdates pass through the production encoders, aggregators and decoders, "
          "the same in every round.\n\n"
          "examples:\n"
          "  tributary codec measure --codec int8 --in a.f32 --in b.f32\n"
          "  tributary codec measure --codec int8 --codec int8_shared --in a.f32 --in b.f32 "
          "\\\n      --rounds 20 --json",
      .options = {{.name = "--codec",
                   .value_name = "SPEC",
                   .help = "codec to measure; may be repeated, 'codec list' shows all",
                   .accept = accept_codecs(command->codecs),
                   .required = true,
                   .repeatable = true},
                  {.name = "--in",
                   .value_name = "FILE",
                   .help = "update of one agent; may be repeated",
                   .accept = accept_files(command->files),
                   .required = true,
                   .repeatable = true},
                  {.name = "--rounds",
                   .value_name = "N",
                   .help = "number of rounds (1)",
                   .accept = accept_count(command->measure.rounds, 1u, 1'000'000u)},
                  {.name = "--no-error-feedback",
                   .value_name = {},
                   .help = "drop the encoding error instead of sending it later",
                   .accept = accept_flag(command->measure.error_feedback, false)},
                  {.name = "--bucket-values",
                   .value_name = "N",
                   .help = "values per bucket (16Mi)",
                   .accept = accept_count(command->measure.bucket_values, 1u, kBucketValuesMax)},
                  {.name = "--layer",
                   .value_name = "NAME:AxB",
                   .help = "a layer of the updates, as in a job's layers; may be repeated",
                   .accept = [command](const std::string& value) -> Status {
                     TRIBUTARY_ASSIGN(LayerShape shape, parse_layer(value));
                     command->layers.push_back(std::move(shape));
                     return {};
                   },
                   .repeatable = true},
                  {.name = "--seed",
                   .value_name = "N",
                   .help = "seed of the job, for random draws (1)",
                   .accept = accept_count<std::uint64_t>(command->measure.job_seed, 0)},
                  {.name = "--backend",
                   .value_name = "scalar|simd",
                   .help = "implementation; both produce the same bytes (simd)",
                   .accept = accept_choice(command->backend, kBackends)},
                  {.name = "--threads",
                   .value_name = "N",
                   .help = "threads that encode, add and decode; the bytes are the same (1)",
                   .accept =
                       accept_count<std::size_t>(command->threads, 1, ThreadPool::kThreadsMax)}},
      .run = [command](World& world) { return measure_all(*command, world); }};
}

}  // namespace tributary
