// A coordinator and its agents as processes, with keys, settings and journals in a temporary
// folder.
//
// The destructor kills the processes and removes the folder; after a failed test it keeps the
// folder and prints its path. Errors are reported as gtest failures. One thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/net/keys/keys.h"
#include "tests/end_to_end/federation/journals.h"
#include "tests/end_to_end/federation/process.h"

namespace tributary::end_to_end {

struct FederationOptions {
  std::uint32_t agents = 3;
  std::uint64_t rounds = 5;
  std::uint64_t parameters = 10'000;
  std::string job = {};  // lines of [job] that replace the parameters
  std::string codec = "fp32";
  std::vector<std::string> coordinator_settings = {};  // KEY=VALUE
  std::vector<std::string> agent_settings = {};
  bool encrypted = true;
  bool exit_when_done = true;
  std::string coordinator_journal_folder = {};  // empty: the folder of the federation
  std::map<std::uint32_t, std::string> agent_journal_folders = {};
};

class Federation {
 public:
  explicit Federation(FederationOptions options);
  ~Federation();
  Federation(const Federation&) = delete;
  Federation& operator=(const Federation&) = delete;

  static std::string agent_id(std::uint32_t agent) { return "agent-" + std::to_string(agent); }
  const std::filesystem::path& folder() const { return folder_; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string endpoint() const { return endpoint_; }
  const KeyPair& keys_of_coordinator() const { return *coordinator_keys_; }
  std::string coordinator_journal() const;
  std::string agent_journal(std::uint32_t agent) const;

  // Returns when the coordinator listens. A restarted coordinator uses the same port again.
  void start_coordinator();
  void start_agent(std::uint32_t agent);
  void start_all();
  // The command lines, for tests that start or modify the daemons themselves.
  std::vector<std::string> coordinator_command() const;
  std::vector<std::string> agent_command(std::uint32_t agent) const;
  // Sets KEY=VALUE for one agent, from its next start on.
  void set_for_agent(std::uint32_t agent, std::string setting);
  void set_for_coordinator(std::string setting) {
    options_.coordinator_settings.push_back(std::move(setting));
  }

  Process& coordinator() { return *coordinator_; }
  Process& agent(std::uint32_t agent) { return *agents_.at(agent); }
  // Also records which updates the agent had taken, for expect_sound().
  void kill_agent(std::uint32_t agent);

  bool committed(std::uint64_t round);  // waits until the round is committed

  // Runs `tributary WORDS... --run JOURNAL --json` and returns its output. Its exit code is stored
  // in `code`; without `code` it must be 0.
  std::string ask(std::vector<std::string> words, int* code = nullptr) const;

  // Returns a series of the coordinator's Prometheus endpoint, named as `name{label="value"}`; 0 if
  // it is missing. Requires the setting metrics.listen.
  double metric(const std::string& series);

  // Waits until all processes have ended by themselves with exit code 0.
  void expect_all_end(std::chrono::nanoseconds patience = kPatience);
  // Checks that every round was committed exactly once, all replicas are identical and all updates
  // are conserved. With a lossless codec the model is computed (Expectation), with another one the
  // account of updates must balance (Conservation).
  void expect_sound();
  // Checks that all agents store the coordinator's last model.
  void expect_identical() const;

 private:
  void expect_exact();
  void expect_conserved();
  void write_keys();
  void write_settings();
  void note_rounds_taken(std::uint32_t agent);

  FederationOptions options_;
  std::filesystem::path folder_;
  std::optional<KeyPair> coordinator_keys_;
  std::string endpoint_ = "tcp://127.0.0.1:*";
  std::optional<Process> coordinator_;
  std::map<std::uint32_t, std::optional<Process>> agents_;
  std::map<std::uint32_t, std::vector<std::string>> settings_of_agents_;
  RoundsTaken taken_;
  RoundsInterrupted interrupted_;
};

}  // namespace tributary::end_to_end
