#include "tests/end_to_end/federation/federation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>

#include "core/codec/registry.h"
#include "core/net/access/allow_list.h"
#include "core/service/metrics/scrape_testing.h"
#include "tests/end_to_end/federation/conservation.h"
#include "tests/end_to_end/federation/tcp.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kJobSeed = 7;
// Rounding of sums of a few hundred updates. A lost or repeated update makes 1/64 or more.
constexpr double kConservationErrorMax = 1e-3;

std::filesystem::path new_folder() {
  std::string name =
      (std::filesystem::temp_directory_path() / "tributary-federation-XXXXXX").string();
  const char* const made = ::mkdtemp(name.data());
  EXPECT_NE(made, nullptr) << name;
  return name;
}

std::vector<std::string> with_settings(std::vector<std::string> command,
                                       const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    command.emplace_back("--set");
    command.push_back(setting);
  }
  return command;
}

}  // namespace

Federation::Federation(FederationOptions options)
    : options_(std::move(options)), folder_(new_folder()) {
  write_keys();
  write_settings();
}

Federation::~Federation() {
  // The processes must have ended before their folder is removed.
  agents_.clear();
  coordinator_.reset();
  if (::testing::Test::HasFailure()) {
    fmt::print(stderr, "what the processes logged is in {}\n", folder_.string());
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Federation::write_keys() {
  coordinator_keys_ = make_key_pair().value();
  ASSERT_TRUE(write_key_pair(path("coordinator.key"), *coordinator_keys_).ok());
  std::ofstream(path("agents.allow")) << "";
  for (std::uint32_t i = 0; i < options_.agents; ++i) {
    const KeyPair keys = make_key_pair().value();
    ASSERT_TRUE(write_key_pair(path(agent_id(i) + ".key"), keys).ok());
    const Status status =
        allow_in_file(path("agents.allow"), {.id = agent_id(i), .key = keys.public_key});
    ASSERT_TRUE(status.ok()) << status.text();
  }
}

void Federation::write_settings() {
  std::ofstream(path("coordinator.toml")) << fmt::format(
      R"(federation = "test"
[journal]
file = "{}"
durability = "stop"  # processes are killed here, not machines
[link]
encrypted = {}
key_file = "{}"
allow_file = "{}"
[heartbeat]
interval_ms = 200
timeout_ms = 5000
[retry]
ack_timeout_ms = 500
[log]
level = "debug"
[job]
name = "test"
rounds = {}
{}
bucket_values = 4096
codec = "{}"
seed = {}
agents_min = {}
deadline_ms = 20000
checkpoint_rounds = 1000000
checkpoint_redo_models = 1000000.0
)",
      coordinator_journal(), options_.encrypted, path("coordinator.key"), path("agents.allow"),
      options_.rounds,
      options_.job.empty() ? fmt::format("parameters = {}", options_.parameters) : options_.job,
      options_.codec, kJobSeed, options_.agents);
}

std::string Federation::coordinator_journal() const {
  const std::filesystem::path folder = options_.coordinator_journal_folder;
  return ((folder.empty() ? folder_ : folder) / "coordinator.db").string();
}

std::vector<std::string> Federation::coordinator_command() const {
  std::vector<std::string> command = {TRIBUTARY_COORDINATOR, "--config", path("coordinator.toml"),
                                      "--set", "link.endpoint=" + endpoint_};
  if (options_.exit_when_done) command.emplace_back("--exit-when-done");
  return with_settings(std::move(command), options_.coordinator_settings);
}

std::string Federation::ask(std::vector<std::string> words, int* code) const {
  words.insert(words.begin(), TRIBUTARY_CLI);
  for (const std::string& word :
       {std::string("--run"), coordinator_journal(), std::string("--json")}) {
    words.push_back(word);
  }
  std::string line;
  for (const std::string& word : words) line += "'" + word + "' ";
  std::FILE* const out = ::popen(line.c_str(), "r");
  EXPECT_NE(out, nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), out)) {
    text.append(buffer.data(), size);
  }
  const int status = ::pclose(out);
  if (code != nullptr) {
    *code = WEXITSTATUS(status);
  } else {
    EXPECT_EQ(WEXITSTATUS(status), 0) << line << text;
  }
  return text;
}

void Federation::start_coordinator() {
  coordinator_.emplace(coordinator_command(), path("coordinator.log"));
  ASSERT_TRUE(coordinator_->logs({"listening"})) << path("coordinator.log");
  // The log quotes values with special characters.
  const std::string quoted = field(coordinator_->lines_with({"listening"}).front(), "endpoint");
  endpoint_ = quoted.front() == '"' ? quoted.substr(1, quoted.size() - 2) : quoted;
}

std::string Federation::agent_journal(std::uint32_t agent) const {
  const auto found = options_.agent_journal_folders.find(agent);
  const std::filesystem::path folder =
      found == options_.agent_journal_folders.end() ? folder_.string() : found->second;
  return (folder / (agent_id(agent) + ".db")).string();
}

void Federation::set_for_agent(std::uint32_t agent, std::string setting) {
  settings_of_agents_[agent].push_back(std::move(setting));
}

std::vector<std::string> Federation::agent_command(std::uint32_t agent) const {
  const std::string id = agent_id(agent);
  std::vector<std::string> settings = options_.agent_settings;
  if (!options_.encrypted) settings.emplace_back("link.encrypted=false");
  if (const auto own = settings_of_agents_.find(agent); own != settings_of_agents_.end()) {
    settings.insert(settings.end(), own->second.begin(), own->second.end());
  }
  std::vector<std::string> command = {TRIBUTARY_AGENT};
  if (options_.exit_when_done) command.emplace_back("--exit-when-done");
  command = with_settings(std::move(command),
                          {"agent_id=" + id, "journal.file=" + agent_journal(agent),
                           "journal.durability=stop", "link.coordinator=" + endpoint_,
                           "link.coordinator_key=" + key_text(coordinator_keys_->public_key),
                           "link.key_file=" + path(id + ".key"), "log.level=debug"});
  return with_settings(std::move(command), settings);
}

void Federation::start_agent(std::uint32_t agent) {
  agents_[agent].emplace(agent_command(agent), path(agent_id(agent) + ".log"));
}

void Federation::start_all() {
  start_coordinator();
  for (std::uint32_t i = 0; i < options_.agents; ++i) start_agent(i);
}

void Federation::kill_agent(std::uint32_t agent) {
  agents_[agent]->kill();
  note_rounds_taken(agent);
  const Result<AgentState> state = read_agent_journal(agent_journal(agent));
  ASSERT_TRUE(state.ok()) << state.status().text();
  for (const UndecidedRound& round : state->undecided) {
    interrupted_[agent_id(agent)].insert(round.id);
  }
}

// A process that is killed between storing and logging leaves no log line, so the journal is read
// for its last round.
void Federation::note_rounds_taken(std::uint32_t agent) {
  std::set<std::uint64_t>& taken = taken_[agent_id(agent)];
  for (const char* message : {"contribution stored", "model stored"}) {
    for (const std::string& line : agents_[agent]->lines_with({message, "update_stored=true"})) {
      taken.insert(std::stoull(field(line, "update_round")));
    }
  }
  const Result<AgentState> state = read_agent_journal(agent_journal(agent));
  ASSERT_TRUE(state.ok()) << state.status().text();
  if (!state->replica) return;
  const ResidualStamp& stamp = state->replica->residual_stamp;
  if (stamp.updates_taken != 0) taken.insert(stamp.update_round);
}

bool Federation::committed(std::uint64_t round) {
  return coordinator_->logs({"round committed", fmt::format(" round={} ", round)});
}

double Federation::metric(const std::string& series) {
  EXPECT_TRUE(coordinator_->logs({"metrics", "endpoint="}));
  const std::string at =
      field(coordinator_->lines_with({"metrics", "endpoint="}).at(0), "endpoint");
  return service_testing::value_of(service_testing::scrape(port_of(at)), series);
}

void Federation::expect_all_end(std::chrono::nanoseconds patience) {
  for (auto& [number, process] : agents_) {
    EXPECT_EQ(process->wait(patience), 0) << path(agent_id(number) + ".log");
  }
  EXPECT_EQ(coordinator_->wait(patience), 0) << path("coordinator.log");
}

void Federation::expect_sound() {
  const auto codec = make_codec(options_.codec);
  ASSERT_TRUE(codec.ok()) << codec.status().text();
  (*codec)->lossy() ? expect_conserved() : expect_exact();
}

void Federation::expect_exact() {
  const Result<CoordinatorState> state = read_coordinator_journal(coordinator_journal());
  ASSERT_TRUE(state.ok()) << state.status().text();
  ASSERT_EQ(state->jobs.size(), 1u);
  for (std::uint32_t i = 0; i < options_.agents; ++i) note_rounds_taken(i);
  Expectation expected(kJobSeed, taken_, interrupted_);
  ASSERT_NO_FATAL_FAILURE(expected.replay(state->jobs[0]));
  EXPECT_EQ(expected.version(), options_.rounds);
  for (std::uint32_t i = 0; i < options_.agents; ++i) {
    SCOPED_TRACE(agent_id(i));
    const Result<AgentState> agent = read_agent_journal(agent_journal(i));
    ASSERT_TRUE(agent.ok()) << agent.status().text();
    ASSERT_TRUE(agent->replica);
    const ReplicaRecord& replica = *agent->replica;
    EXPECT_EQ(replica.model_version, options_.rounds);
    EXPECT_EQ(replica.model_hash, expected.model_hash());
    EXPECT_EQ(*replica.model, expected.model());
    EXPECT_TRUE(agent->undecided.empty());
    EXPECT_EQ(replica.residual_stamp.updates_taken, taken_[agent_id(i)].size());
    const FloatVector nothing(replica.model->size(), 0.0f);
    EXPECT_EQ(replica.residual ? *replica.residual : nothing, expected.residual(agent_id(i)));
  }
}

void Federation::expect_conserved() {
  expect_identical();
  const Result<CoordinatorState> state = read_coordinator_journal(coordinator_journal());
  ASSERT_TRUE(state.ok()) << state.status().text();
  ASSERT_EQ(state->jobs.size(), 1u);
  AgentStates agents;
  for (std::uint32_t i = 0; i < options_.agents; ++i) {
    note_rounds_taken(i);
    Result<AgentState> agent = read_agent_journal(agent_journal(i));
    ASSERT_TRUE(agent.ok()) << agent.status().text();
    ASSERT_TRUE(agent->replica);
    EXPECT_TRUE(agent->undecided.empty());
    EXPECT_EQ(agent->replica->residual_stamp.updates_taken, taken_[agent_id(i)].size());
    agents[agent_id(i)] = *std::move(agent);
  }
  const Conservation account = account_of(state->jobs[0], agents, kJobSeed, taken_, interrupted_);
  EXPECT_EQ(account.updates, options_.rounds * options_.agents);
  EXPECT_GT(account.residual_max, 0) << "a codec that loses nothing has an exact test";
  EXPECT_LT(account.difference_max, kConservationErrorMax);
}

void Federation::expect_identical() const {
  const Result<CoordinatorState> state = read_coordinator_journal(coordinator_journal());
  ASSERT_TRUE(state.ok()) << state.status().text();
  const RestoredJob& job = state->jobs.at(0);
  const std::uint64_t hash =
      job.redo.empty() ? job.checkpoint.model_hash : job.redo.back().round.model_hash;
  for (std::uint32_t i = 0; i < options_.agents; ++i) {
    SCOPED_TRACE(agent_id(i));
    const Result<AgentState> agent = read_agent_journal(agent_journal(i));
    ASSERT_TRUE(agent.ok()) << agent.status().text();
    ASSERT_TRUE(agent->replica);
    EXPECT_EQ(agent->replica->model_version, options_.rounds);
    EXPECT_EQ(agent->replica->model_hash, hash);
  }
}

}  // namespace tributary::end_to_end
