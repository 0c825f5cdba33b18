// Builds small runs from constants, for the tests of tables and of the pages that show them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/run/view/run_view.h"

namespace tributary::dashboard::tables_testing {

constexpr std::uint64_t kTestJob = 42;
constexpr std::int64_t kTestBaseNs = 1'700'000'000'000'000'000;  // 2023-11-14 22:13:20 UTC

inline std::string agent_name(std::size_t number) { return "agent-" + std::to_string(number); }

inline std::vector<AgentInfo> some_agents(std::size_t count, bool connected = true) {
  std::vector<AgentInfo> agents;
  for (std::size_t i = 1; i <= count; ++i) {
    agents.push_back({.number = static_cast<std::int64_t>(i),
                      .agent_id = agent_name(i),
                      .build = "0.1.0",
                      .device = i % 2 == 0 ? "Orin Nano" : "Orin NX",
                      .connected = connected,
                      .job = kTestJob,
                      .seen_wall_ns = kTestBaseNs});
  }
  return agents;
}

inline NewReport some_report(std::int64_t agent, std::uint64_t round, double loss) {
  return {.agent = agent,
          .job = kTestJob,
          .round = round,
          .loss = loss,
          .compute_s = 0.25,
          .encode_s = 0.05,
          .wait_s = 0.5,
          .update_norm = 1.5,
          .residual_norm = 0.125,
          .examples = 64,
          .bytes_up = 2048,
          .bytes_down = 4096,
          .decode_s = 0.1,
          .gain = 0.75};
}

// Every round takes two seconds and starts when the previous one ends.
inline NewRound some_round(std::uint64_t number) {
  return {.job = kTestJob,
          .round = number,
          .began_s = 2.0 * static_cast<double>(number - 1),
          .ended_s = 2.0 * static_cast<double>(number),
          .members = 2,
          .contributors = 2,
          .bytes_up = 100,
          .bytes_down = 200,
          .dense_bytes_up = 1000,
          .dense_bytes_down = 1000};
}

inline EventRow some_event(std::int64_t number, LogLevel level, const std::string& text,
                           std::uint64_t round = 0) {
  return {.number = number,
          .at_wall_ns = kTestBaseNs + number * 1'000'000'000,
          .time_s = static_cast<double>(number),
          .level = level,
          .name = "agent_gone",
          .reason = "left",
          .source = "agent-1",
          .text = text,
          .job = kTestJob,
          .round = round};
}

inline RunChanges some_job(wire::JobState state = wire::JobState::running) {
  RunChanges changes;
  changes.base_wall_ns = kTestBaseNs;
  changes.jobs = std::vector<JobInfo>{{.job = kTestJob,
                                       .name = "digits",
                                       .state = state,
                                       .model = "lenet",
                                       .rounds_configured = 200,
                                       .parameters = 1000,
                                       .submitted_wall_ns = kTestBaseNs}};
  return changes;
}

// Texts that a hostile agent or a damaged file may contain.
inline std::vector<std::string> hostile_texts() {
  return {std::string(100'000, 'x'),
          "two\nlines\tand\x07 a bell",
          std::string("\xe2\x80\xae") + "drawkcab",  // right-to-left override
          "=1+1,\"quoted\";'",
          "<img src=file:///etc/passwd><b>bold</b>",
          std::string("a\0b", 3),
          "\xff\xfe not UTF-8 \xc0",
          std::string(3, '\n')};
}

}  // namespace tributary::dashboard::tables_testing
