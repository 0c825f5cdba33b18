#include "dashboard/pages/control/job_file.h"

#include <filesystem>
#include <system_error>

#include "core/base/files/file.h"
#include "core/job/job_settings.h"
#include "core/net/zmq/control.h"
#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

QString model_text(const JobSettings& job) {
  if (!job.model.empty()) return "model " + shown_text(job.model);
  if (!job.model_file.empty()) return "model of " + shown_text(job.model_file);
  if (!job.layers.empty()) return QString("%1 layers").arg(job.layers.size());
  return QString("%1 parameters").arg(job.parameters);
}

QString summary_of(const JobSettings& job) {
  const QString agents = job.policy.agents.empty()
                             ? QString("%1 agents or more").arg(job.policy.agents_min)
                             : QString("%2 or more of %1 named agents")
                                   .arg(job.policy.agents.size())
                                   .arg(job.policy.agents_min);
  return QString("job %1: %2 rounds, %3, %4, codec %5, planning %6, %7")
      .arg(shown_text(job.name))
      .arg(job.rounds)
      .arg(shown_text(job.mode), model_text(job), shown_text(start_codec(job)),
           shown_text(job.planning), agents);
}

// A relative path has no meaning on the coordinator's disk, so only absolute paths are accepted.
Status check_model_file(const JobSettings& job, bool across_network) {
  if (!across_network || job.model_file.empty()) return {};
  if (std::filesystem::path(job.model_file).is_absolute()) return {};
  return {StatusCode::invalid_argument,
          {.what = "model_file",
           .expected = "an absolute path on the coordinator's machine",
           .got = "'" + job.model_file + "'",
           .remedy = "copy the file to that machine and give its absolute path"}};
}

}  // namespace

Result<JobFile> read_job_file(const std::string& path, bool across_network) {
  // Half of the request's limit, because JSON escaping may enlarge the text.
  TRIBUTARY_ASSIGN(const Bytes bytes, read_file(path, kControlBytesMax / 2));
  std::error_code error;
  const std::filesystem::path file = std::filesystem::absolute(path, error);
  const std::string name = file.filename().string();
  JobFile read = {.text = std::string(bytes.begin(), bytes.end())};
  if (!across_network) read.folder = file.parent_path().string();
  JobSettings job;
  Settings settings;
  bind_job(job, settings, "");
  TRIBUTARY_TRY(settings.read_text(read.text, name));
  if (Status wrong = check_job(job); !wrong.ok()) return std::move(wrong).at(name);
  if (Status wrong = check_model_file(job, across_network); !wrong.ok()) {
    return std::move(wrong).at(name);
  }
  read.name = job.name;
  read.summary = summary_of(job);
  return read;
}

}  // namespace tributary::dashboard
