// The settings of a coordinator, as read from flags and the settings file. docs/run.md describes
// every setting.
//
// Reading has no effect but opening the files that the settings name. The result is complete: a
// coordinator starts from it without asking the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/evaluation/evaluator.h"
#include "core/job/job_settings.h"
#include "core/round/coordinator/coordinator.h"
#include "core/service/settings/common_settings.h"
#include "core/service/settings/journal_settings.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "schemas/limits.h"

namespace tributary {

// Plain values; the defaults are the documented ones.
struct CoordinatorSettings {
  CommonSettings common;
  CoordinatorConfig machine;
  JournalSettings journal;
  Retention retention;
  std::string endpoint = "tcp://*:4640";
  std::string key_file;
  std::string allow_file;
  bool encrypted = true;
  // Endpoint for observers; empty: observers can only use the local socket.
  std::string watch_endpoint;
  std::string watch_allow_file;  // allow-list of observers
  // Ids of observers that may also send operators' commands.
  std::vector<std::string> watch_operators;
  std::uint32_t io_threads = 1;
  std::uint32_t connections_max = 4096;
  std::uint64_t send_queue_bytes = 64u << 20;
  bool probes = true;  // measure idle links with probes
  std::uint32_t probes_quiet_ms = 5'000;
  std::uint32_t probes_spacing_ms = 10'000;
  EvaluatorSettings evaluation;
  std::optional<JobSettings> job;  // job to submit at the start
  bool control = true;             // local socket for operators, beside the journal
  // End once every job is over.
  bool exit_when_done = false;
};

// Reads and checks the settings. An error names the setting, its bounds and its origin.
Result<CoordinatorSettings> read_coordinator_settings(const DaemonFlags& flags);

}  // namespace tributary
