// tributary job submit, pause, resume and stop: requests to a running coordinator.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/accept.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/job_journal.h"
#include "cli/text.h"
#include "core/base/files/file.h"
#include "core/net/zmq/control.h"
#include "core/run/units/quantity.h"
#include "core/service/operator_messages.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// The options of all four commands; each uses some of them.
struct ChangeOptions {
  std::string run_file = usual_run_file();
  std::string job;  // a file to submit, or the name of a job
  std::string reason;
};

// The estimate of the job's memory. Empty if the coordinator is of an earlier version.
std::string memory_text(const Json& data) {
  const auto memory = data.find("memory");
  if (memory == data.end()) return {};
  return fmt::format("memory: about {} at the coordinator, {} at each agent beside its trainer\n",
                     quantity_text(Unit::bytes, memory->value("coordinator_bytes", 0.0)),
                     quantity_text(Unit::bytes, memory->value("agent_bytes", 0.0)));
}

// The coordinator parses the file. It gets the folder as well, because relative paths in a job are
// relative to its file.
Result<Answer> submit(const ChangeOptions& options) {
  // Half of the request's limit, because JSON escaping may enlarge the text.
  TRIBUTARY_ASSIGN(const Bytes text, read_file(options.job, kControlBytesMax / 2));
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(options.job, error);
  TRIBUTARY_ASSIGN(
      const Json data,
      ask_coordinator(
          options.run_file,
          submit_question(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()),
                          file.parent_path().string())));
  Answer answer;
  answer.text = fmt::format("submitted as job {}\n", data.at("job").dump());
  answer.text += memory_text(data);
  // A coordinator of an earlier version sends none.
  for (const Json& warning : data.value("warnings", Json::array())) {
    answer.text += fmt::format("warning: {}\n", printable(warning.get<std::string>()));
  }
  answer.data = json_text(data);
  return answer;
}

// The coordinator decides whether the change is allowed in the job's state; its refusal becomes the
// error.
Result<Answer> change(const ChangeOptions& options, JobChange change) {
  TRIBUTARY_ASSIGN(
      const Json data,
      ask_coordinator(options.run_file, change_question(change, options.job, options.reason)));
  Answer answer;
  answer.text = fmt::format("{}: {}\n", printable(options.job),
                            change == JobChange::pause    ? "paused"
                            : change == JobChange::resume ? "resumed"
                                                          : "stopped");
  answer.data = json_text(data);
  return answer;
}

// The three commands differ only in the verb, the change and their texts.
Command change_command(std::string_view verb, JobChange kind, std::string_view summary,
                       std::string_view details) {
  const auto options = std::make_shared<ChangeOptions>();
  return {.noun = "job",
          .verb = verb,
          .summary = summary,
          .details = details,
          .options = {job_option(options->job),
                      {.name = "--reason",
                       .value_name = "TEXT",
                       .help = "reason, stored with the job",
                       .accept = accept_text(options->reason)},
                      run_option(options->run_file)},
          .run = [options, kind](World&) { return change(*options, kind); }};
}

}  // namespace

Command job_submit_command() {
  const auto options = std::make_shared<ChangeOptions>();
  return {
      .noun = "job",
      .verb = "submit",
      .summary = "submit a job to a running coordinator",
      .details =
          "The file is TOML; docs/jobs.md has every key and examples. docs/thin_links.md shows\n"
          "what rounds cost over slow links. A job starts as soon as enough agents are free.\n\n"
          "examples:\n"
          "  tributary job submit digits.toml\n"
          "  tributary job submit digits.toml --run coordinator.db --json",
      .options = {{.name = "FILE",
                   .value_name = "FILE",
                   .help = "job file",
                   .accept = accept_file(options->job),
                   .required = true},
                  run_option(options->run_file)},
      .run = [options](World&) { return submit(*options); }};
}

Command job_pause_command() {
  return change_command("pause", JobChange::pause, "pause a job",
                        "The current round is finished. Model, optimizer and residuals are kept\n"
                        "until 'job resume', also over restarts.\n\n"
                        "examples:\n"
                        "  tributary job pause digits\n"
                        "  tributary job pause digits --reason 'the office is open'");
}

Command job_resume_command() {
  return change_command("resume", JobChange::resume, "resume a paused job",
                        "The job continues with the next round.\n\n"
                        "examples:\n"
                        "  tributary job resume digits");
}

Command job_stop_command() {
  return change_command("stop", JobChange::stop, "end a job permanently",
                        "The model stays in the journal: see 'job export'.\n\n"
                        "examples:\n"
                        "  tributary job stop digits --reason 'good enough'");
}

}  // namespace tributary
