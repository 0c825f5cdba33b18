#include "coordinator/config.h"

#include <fmt/format.h>

#include <array>

#include "core/base/thread_pool.h"
#include "core/net/access/allow_list.h"
#include "core/net/access/join_file.h"
#include "core/train/agent_data.h"

namespace tributary {
namespace {

// Reads retention times in units that people use. Row counts have no unit.
class RetentionWords {
 public:
  explicit RetentionWords(Retention& retention)
      : tables_{{{"events", &retention.events},
                 {"metrics", &retention.metrics},
                 {"link_samples", &retention.link_samples},
                 {"agent_rounds", &retention.agent_rounds}}} {}

  void bind(Settings& settings) {
    for (Table& table : tables_) {
      const std::string prefix = std::string("retention.") + table.name;
      table.days = static_cast<std::uint64_t>(table.limits->age_ns_max / kDayNs);
      table.mib = table.limits->bytes_max >> 20;
      settings.number<std::uint64_t>(prefix + "_days", table.days, 1, 36'500);
      settings.number<std::uint64_t>(prefix + "_mib", table.mib, 1, 1u << 20);
    }
  }
  void settle() {
    for (const Table& table : tables_) {
      table.limits->age_ns_max = static_cast<std::int64_t>(table.days) * kDayNs;
      table.limits->bytes_max = table.mib << 20;
    }
  }

 private:
  struct Table {
    const char* name;
    TableLimits* limits;
    std::uint64_t days = 0;
    std::uint64_t mib = 0;
  };
  std::array<Table, 4> tables_;
};

// The bounds of the settings are documented in docs/run.md.
void bind(Settings& settings, CoordinatorSettings& config) {
  config.common.bind(settings);
  settings.text("federation", config.machine.federation);
  config.journal.bind(settings);
  settings.flag("control", config.control);
  settings.text("link.endpoint", config.endpoint);
  settings.text("link.key_file", config.key_file);
  settings.text("link.allow_file", config.allow_file);
  settings.flag("link.encrypted", config.encrypted);
  settings.text("watch.endpoint", config.watch_endpoint);
  settings.text("watch.allow_file", config.watch_allow_file);
  settings.texts("watch.operators", config.watch_operators);
  settings.number("link.io_threads", config.io_threads, 1u, 64u);
  settings.number("link.connections_max", config.connections_max, 16u, 65'000u);
  settings.number<std::uint64_t>("link.send_queue_bytes", config.send_queue_bytes, 8u << 20);
  settings.number("heartbeat.interval_ms", config.machine.heartbeat_interval_ms, 10u, 600'000u);
  settings.number("heartbeat.timeout_ms", config.machine.heartbeat_timeout_ms, 20u, 3'600'000u);
  settings.number("retry.ack_timeout_ms", config.machine.ack_timeout_ms, 1u, 600'000u);
  settings.number("retry.retries_max", config.machine.retries_max, 1u, 64u);
  settings.number("limits.agents_max", config.machine.agents_max, 1u, wire::kMembersMax);
  settings.number<std::uint64_t>("limits.incoming_bytes_max", config.machine.incoming_bytes_max,
                                 1u << 20);
  settings.number<std::uint64_t>("limits.outgoing_bytes_max", config.machine.outgoing_bytes_max,
                                 1u << 20);
  settings.number("limits.payload_bytes_max", config.machine.payload_bytes_max, 1'024u,
                  wire::kPayloadBytesMax);
  settings.number("limits.payloads_in_flight_max", config.machine.payloads_in_flight_max, 1u,
                  1'024u);
  settings.flag("probes.on", config.probes);
  settings.number("probes.quiet_ms", config.probes_quiet_ms, 100u, 86'400'000u);
  settings.number("probes.spacing_ms", config.probes_spacing_ms, 100u, 86'400'000u);
  TrainerOptions& evaluation = config.evaluation.training;
  settings.text("evaluation.trainer", config.evaluation.trainer);
  settings.text("evaluation.path", evaluation.data.path);
  settings.text("evaluation.format", evaluation.data.format);
  settings.number("evaluation.threads", evaluation.threads, 0u, 1'024u);
  settings.text("evaluation.library", evaluation.library);
  settings.text("evaluation.model_file", evaluation.model_file);
}

// Observers without keys are only possible without encryption, as with agents.
Status check_watch(const Settings& settings, const CoordinatorSettings& config) {
  if (config.watch_endpoint.empty()) return {};
  TRIBUTARY_TRY(check_listening_endpoint(config.watch_endpoint).at("setting watch.endpoint"));
  if (config.encrypted && config.watch_allow_file.empty()) {
    return settings.missing("watch.allow_file", "list the observers with 'tributary keys allow'");
  }
  for (const std::string& id : config.watch_operators) {
    TRIBUTARY_TRY(check_agent_id(id).at("setting watch.operators"));
  }
  return {};
}

// Checks that need several settings. Each error names the one to change.
Status check_together(const Settings& settings, CoordinatorSettings& config) {
  TRIBUTARY_TRY(config.journal.settle(settings, "jobs and rounds"));
  TRIBUTARY_TRY(check_listening_endpoint(config.endpoint).at("setting link.endpoint"));
  if (config.encrypted && config.key_file.empty()) {
    return settings.missing("link.key_file", "make a key pair with 'tributary keys new'");
  }
  if (config.encrypted && config.allow_file.empty()) {
    return settings.missing("link.allow_file", "list the agents with 'tributary keys allow'");
  }
  TRIBUTARY_TRY(check_watch(settings, config));
  if (config.machine.heartbeat_timeout_ms <= config.machine.heartbeat_interval_ms) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting heartbeat.timeout_ms",
                   .expected = fmt::format("more than heartbeat.interval_ms, which is {}",
                                           config.machine.heartbeat_interval_ms),
                   .got = fmt::format("{}", config.machine.heartbeat_timeout_ms),
                   .remedy = "five intervals are usual"});
  }
  // Makes the trainer once to check its settings, so that an error appears at the start and not at
  // the first evaluation.
  if (!config.evaluation.training.data.path.empty()) {
    TRIBUTARY_TRY(check_data_source(config.evaluation.training.data, "evaluation"));
    TRIBUTARY_TRY(make_trainer(config.evaluation.trainer, config.evaluation.training).status());
  }
  return config.common.log_options().status();
}

// Neither is ignored.
Status two_jobs(const std::string& job_file) {
  return Status(StatusCode::invalid_argument,
                {.what = "job",
                 .expected = "--job or settings that begin with job.",
                 .got = fmt::format("--job {} and such settings", job_file),
                 .remedy = "write all keys of the job into its file, or leave out --job"});
}

}  // namespace

Result<CoordinatorSettings> read_coordinator_settings(const DaemonFlags& flags) {
  CoordinatorSettings config;
  Settings settings;
  JobSettings job;
  bind(settings, config);
  bind_job(job, settings, "job.");
  RetentionWords retention(config.retention);
  retention.bind(settings);
  TRIBUTARY_TRY(fill(settings, flags));
  retention.settle();
  TRIBUTARY_TRY(check_together(settings, config));
  if (!flags.job.empty()) {
    if (settings.any_given("job.")) return two_jobs(flags.job);
    Settings job_file;
    job = {};
    bind_job(job, job_file, "");
    TRIBUTARY_TRY(job_file.read_file(flags.job));
    config.job = job;
  } else if (settings.any_given("job.")) {
    // A key of a job without the required ones is an error below, not ignored.
    config.job = job;
  }
  // Checks the job before the coordinator starts.
  if (config.job) TRIBUTARY_TRY(submission(*config.job).status());
  config.exit_when_done = flags.exit_when_done;
  config.common.settle_threads(hardware_threads(), 0);
  return config;
}

}  // namespace tributary
