// What a coordinator is told: docs/run.md describes every setting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/evaluation/evaluator.h"
#include "core/job/job_settings.h"
#include "core/round/coordinator/coordinator.h"
#include "core/service/settings/common_settings.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "schemas/limits.h"

namespace tributary {

struct CoordinatorSettings {
  CommonSettings common;
  CoordinatorConfig machine;
  std::string journal;
  bool journal_sync = true;
  Retention retention;
  std::string endpoint = "tcp://*:4640";
  std::string key_file;
  std::string allow_file;
  bool encrypted = true;
  std::string watch_endpoint;                // empty: nobody watches from elsewhere
  std::string watch_allow_file;              // who may
  std::vector<std::string> watch_operators;  // ids of those who may also ask operators' questions
  std::uint32_t io_threads = 1;
  std::uint32_t connections_max = 4096;
  std::uint64_t send_queue_bytes = 64u << 20;
  bool probes = true;  // of links that are quiet
  std::uint32_t probes_quiet_ms = 5'000;
  std::uint32_t probes_spacing_ms = 10'000;
  EvaluatorSettings evaluation;
  std::optional<JobSettings> job;  // to begin with
  bool control = true;             // a socket beside the journal, for operators
  bool exit_when_done = false;
};

Result<CoordinatorSettings> read_coordinator_settings(const DaemonFlags& flags);

}  // namespace tributary
