// A coordinator and its agents as processes, with keys, settings and journals in a folder of their
// own.
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
  std::string job = {};  // lines of [job], instead of the parameters
  std::string codec = "fp32";
  std::vector<std::string> coordinator_settings = {};  // KEY=VALUE
  std::vector<std::string> agent_settings = {};
  bool encrypted = true;
  bool exit_when_done = true;
  std::string coordinator_journal_folder = {};  // empty: in the folder of the federation
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

  // Waits until it listens. Afterwards it always uses the port that it had first.
  void start_coordinator();
  void start_agent(std::uint32_t agent);
  void start_all();
  std::vector<std::string> coordinator_command() const;
  std::vector<std::string> agent_command(std::uint32_t agent) const;
  // KEY=VALUE for one of them alone, from its next start on.
  void set_for_agent(std::uint32_t agent, std::string setting);
  void set_for_coordinator(std::string setting) {
    options_.coordinator_settings.push_back(std::move(setting));
  }

  Process& coordinator() { return *coordinator_; }
  Process& agent(std::uint32_t agent) { return *agents_.at(agent); }
  // And notes what it had taken into account, which the test needs to know afterwards.
  void kill_agent(std::uint32_t agent);

  bool committed(std::uint64_t round);  // waits

  // Runs `tributary WORDS... --run JOURNAL --json` and returns what it printed; its exit code goes
  // to `code`, where it is wanted.
  std::string ask(std::vector<std::string> words, int* code = nullptr) const;

  // What the coordinator's Prometheus endpoint says of one series, as `name{label="value"}`; 0
  // where there is no such line. The coordinator needs metrics.listen.
  double metric(const std::string& series);

  // Waits until everybody has ended by itself with exit code 0.
  void expect_everybody_ends(std::chrono::nanoseconds patience = kPatience);
  // All rounds are committed once, replicas are identical, updates are conserved.
  void expect_sound();

 private:
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
};

}  // namespace tributary::end_to_end
