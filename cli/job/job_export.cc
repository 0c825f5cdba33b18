// tributary job export: writes the newest model of a job and its metrics to files.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/job/newest_model.h"
#include "cli/json.h"
#include "cli/report/run_data.h"
#include "cli/report/run_tables.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"
#include "core/base/files/file.h"
#include "core/base/nearest.h"
#include "core/train/model/safetensors.h"
#include "core/train/model_tools.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The values of --format.
constexpr std::array<std::string_view, 3> kFormats = {"torchscript", "safetensors", "csv"};

// The options. The model file is needed only for TorchScript, and only if the job does not carry
// its own model.
struct ExportOptions {
  std::string run_file = usual_run_file();
  std::string job;
  std::string folder;
  std::vector<std::string> formats;  // empty: all possible formats
  std::string model_file;
};

Status accept_formats(std::vector<std::string>& formats, const std::string& value) {
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    std::string format = value.substr(begin, end - begin);
    if (std::ranges::find(kFormats, format) == kFormats.end()) {
      return Status(StatusCode::invalid_argument, {.what = "a format",
                                                   .expected = "torchscript, safetensors or csv",
                                                   .got = fmt::format("'{}'", format),
                                                   .remedy = did_you_mean(format, kFormats)});
    }
    formats.push_back(std::move(format));
    begin = end + 1;
  }
  return {};
}

// The files of one export. Each is written atomically; an error leaves the files before it.
class Export {
 public:
  Export(const ExportOptions& options, RunFile& run, JobInJournal job, NewestModel model)
      : options_(options), run_(run), job_(std::move(job)), model_(std::move(model)) {}

  Status write() {
    std::error_code error;
    std::filesystem::create_directories(options_.folder, error);
    if (error) {
      return Status(StatusCode::io_error, {.what = fmt::format("folder '{}'", options_.folder),
                                           .expected = "a folder that exists or can be created",
                                           .got = error.message(),
                                           .remedy = "choose another folder with --out"});
    }
    TRIBUTARY_ASSIGN(missing_, run_.missing());
    // TorchScript last: it may fail for lack of a library, and the other files are then there
    // already.
    if (includes("safetensors")) TRIBUTARY_TRY(write_tensors());
    if (includes("csv")) TRIBUTARY_TRY(write_tables());
    if (!includes("torchscript")) return {};
    Status status = write_script();
    if (status.ok() || !options_.formats.empty()) return status;
    // TorchScript was not requested by name, so its absence is not an error
    left_out_ = status.text();
    return {};
  }

  Answer answer() const {
    const JobModel& model = *job_.model;
    Answer answer;
    answer.text = fmt::format("model of job '{}' after round {}, {} values, hash {:016x}\n",
                              printable(job_.name()), model_.version, count_text(model.values()),
                              model_.hash);
    for (const std::string& file : files_) answer.text += fmt::format("  {}\n", printable(file));
    answer.text += missing_line(missing_, options_.run_file);
    if (!left_out_.empty()) answer.text += fmt::format("not as TorchScript: {}\n", left_out_);
    Json json = {{"job", job_.record.job},
                 {"name", job_.name()},
                 {"round", model_.version},
                 {"model_hash", fmt::format("{:016x}", model_.hash)},
                 {"parameters", model.values()},
                 {"files", files_},
                 {"torchscript_left_out", left_out_.empty() ? Json() : Json(left_out_)}};
    add_missing(missing_, json);
    answer.data = json_text(json);
    return answer;
  }

 private:
  bool includes(std::string_view format) const {
    return options_.formats.empty() ||
           std::ranges::find(options_.formats, format) != options_.formats.end();
  }

  // Only files that are complete are listed in the answer.
  Status put(const std::string& name, ByteSpan bytes) {
    std::string path = (std::filesystem::path(options_.folder) / name).string();
    TRIBUTARY_TRY(write_file_atomically(path, bytes));
    files_.push_back(std::move(path));
    return {};
  }

  Status write_tensors() {
    // Loaders of PyTorch models expect the format "pt".
    const SafetensorsMetadata metadata = {{"format", "pt"},
                                          {"job", job_.name()},
                                          {"job_number", fmt::format("{}", job_.record.job)},
                                          {"model", job_.model->wire().model()->name()->str()},
                                          {"model_hash", fmt::format("{:016x}", model_.hash)},
                                          {"round", fmt::format("{}", model_.version)}};
    TRIBUTARY_ASSIGN(const Bytes file,
                     write_safetensors(job_.model->layers(), *model_.values, metadata));
    TRIBUTARY_TRY(check_tensors(file));
    return put("model.safetensors", file);
  }

  // The file is read back before it appears: others train and serve with it.
  Status check_tensors(ByteSpan file) const {
    TRIBUTARY_ASSIGN(const Safetensors read, read_safetensors(file));
    const LayerMap& layers = job_.model->layers();
    const bool same = read.layers.hash() == layers.hash() &&
                      std::ranges::equal(bytes_of(std::span<const float>(read.values)),
                                         bytes_of(std::span<const float>(*model_.values)));
    if (same) return {};
    return Status(StatusCode::mismatch,
                  {.what = "model.safetensors",
                   .expected = fmt::format("the {} values of the journal", layers.values()),
                   .got = fmt::format("{} other values", read.values.size()),
                   .remedy = "report it, with the job's definition"});
  }

  // The same tables as those of `tributary report`.
  Status write_tables() {
    TRIBUTARY_ASSIGN(const report::RunData data,
                     report::read_run(run_, fmt::format("{}", job_.record.job)));
    TRIBUTARY_TRY(put("metrics.csv", bytes_of(report::metrics_csv(data))));
    return put("rounds.csv", bytes_of(report::rounds_csv(data)));
  }

  // Needs the trainer's library, which knows how to build the job's model.
  Status write_script() {
    TRIBUTARY_ASSIGN(const TrainingJob job, training_job(job_.model->wire()));
    TRIBUTARY_ASSIGN(const std::unique_ptr<ModelTools> tools,
                     make_model_tools({.threads = 0, .model_file = options_.model_file}));
    TRIBUTARY_TRY(tools->prepare(job, nullptr));
    TRIBUTARY_ASSIGN(const Bytes file, tools->export_script(*model_.values));
    return put("model.pt", file);
  }

  const ExportOptions& options_;
  RunFile& run_;
  const JobInJournal job_;
  const NewestModel model_;
  std::vector<std::string> files_;
  // The reason why TorchScript is missing; empty if it is not.
  std::string left_out_;
  MissingRounds missing_;
};

Result<Answer> run(const ExportOptions& options) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<RunFile> file, RunFile::open(options.run_file));
  TRIBUTARY_ASSIGN(JobInJournal job, job_in(*file, options.job));
  TRIBUTARY_ASSIGN(NewestModel model, newest_model(*file, job.record.job));
  Export exported(options, *file, std::move(job), std::move(model));
  TRIBUTARY_TRY(exported.write());
  return exported.answer();
}

}  // namespace

Command job_export_command() {
  const auto options = std::make_shared<ExportOptions>();
  const auto accept_format = [options](const std::string& value) {
    return accept_formats(options->formats, value);
  };
  return {
      .noun = "job",
      .verb = "export",
      .summary = "export the newest model of a job and its metrics",
      .details =
          "Reads the journal, whether the coordinator runs or not. Writes model.pt\n"
          "(TorchScript, in evaluation mode), model.safetensors, metrics.csv and rounds.csv.\n"
          "TorchScript needs the trainer's library; without --format and without the library it\n"
          "is left out.\n\n"
          "examples:\n"
          "  tributary job export digits --out digits_model\n"
          "  tributary job export digits --out model --format safetensors,csv --json",
      .options = {job_option(options->job),
                  {.name = "--out",
                   .value_name = "DIR",
                   .help = "folder to write; created if it does not exist",
                   .accept = accept_file(options->folder),
                   .required = true},
                  {.name = "--format",
                   .value_name = "LIST",
                   .help = "formats, separated by commas: torchscript, safetensors, csv (all)",
                   .accept = accept_format},
                  {.name = "--model-file",
                   .value_name = "FILE",
                   .help = "TorchScript file of a job whose model was too large to send",
                   .accept = accept_file(options->model_file)},
                  run_option(options->run_file)},
      .run = [options](World&) { return run(*options); }};
}

}  // namespace tributary
