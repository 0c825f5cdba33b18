#include "coordinator/config.h"

#include <fmt/format.h>

namespace tributary {
namespace {

void bind(Settings& settings, CoordinatorSettings& config) {
  config.common.bind(settings);
  settings.text("federation", config.machine.federation);
  settings.text("journal.file", config.journal);
  settings.flag("journal.sync", config.journal_sync);
  settings.text("link.endpoint", config.endpoint);
  settings.text("link.key_file", config.key_file);
  settings.text("link.allow_file", config.allow_file);
  settings.flag("link.encrypted", config.encrypted);
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
  settings.number("limits.payload_bytes_max", config.machine.payload_bytes_max, 1'024u,
                  wire::kPayloadBytesMax);
  settings.number("limits.payloads_in_flight_max", config.machine.payloads_in_flight_max, 1u,
                  1'024u);
}

Status check_together(const Settings& settings, const CoordinatorSettings& config) {
  if (config.journal.empty()) {
    return settings.missing("journal.file", "name the file that keeps jobs and rounds");
  }
  if (config.encrypted && config.key_file.empty()) {
    return settings.missing("link.key_file", "make a key pair with 'tributary keys new'");
  }
  if (config.encrypted && config.allow_file.empty()) {
    return settings.missing("link.allow_file", "list the agents with 'tributary keys allow'");
  }
  if (config.machine.heartbeat_timeout_ms <= config.machine.heartbeat_interval_ms) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting heartbeat.timeout_ms",
                   .expected = fmt::format("more than heartbeat.interval_ms, which is {}",
                                           config.machine.heartbeat_interval_ms),
                   .got = fmt::format("{}", config.machine.heartbeat_timeout_ms),
                   .remedy = "five intervals are usual"});
  }
  return config.common.log_options().status();
}

}  // namespace

Result<CoordinatorSettings> read_coordinator_settings(const DaemonFlags& flags) {
  CoordinatorSettings config;
  Settings settings;
  JobSettings job;
  bind(settings, config);
  job.bind(settings, "job.");
  TRIBUTARY_TRY(fill(settings, flags));
  TRIBUTARY_TRY(check_together(settings, config));
  if (!flags.job.empty()) {
    Settings job_file;
    job = {};
    job.bind(job_file, "");
    TRIBUTARY_TRY(job_file.read_file(flags.job));
    config.job = job;
  } else if (settings.given("job.name")) {
    config.job = job;
  }
  if (config.job) TRIBUTARY_TRY(submission(*config.job).status());
  config.exit_when_done = flags.exit_when_done;
  return config;
}

}  // namespace tributary
