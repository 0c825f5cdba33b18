// Daemons divide the work of a round among the threads that their settings name. The journal says
// so, and the model does not depend on it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint64_t kThreadRounds = 3;

// A job with one bucket of four chunks. THC adds integers, so the result does not depend on the
// order in which payloads arrive.
FederationOptions threads_options(const std::string& threads) {
  return {.agents = 2,
          .rounds = kThreadRounds,
          .parameters = 250'000,
          .codec = "thc:bits=4",
          .coordinator_settings = {"threads=" + threads, "job.bucket_values=1000000",
                                   "job.quorum=1", "job.strategy=fedadam:tau=0.01"},
          .agent_settings = {"threads=" + threads}};
}

// Runs the job, checks the facts of a round, and returns the hash of its model.
std::string model_with_threads(std::uint32_t threads) {
  Federation federation(threads_options(std::to_string(threads)));
  federation.start_all();
  federation.expect_all_end();
  federation.expect_identical();
  EXPECT_FALSE(federation.coordinator()
                   .lines_with({"listening", "threads=" + std::to_string(threads)})
                   .empty());
  // The reports on the round before the last one are stored with the last one.
  const auto answer = nlohmann::json::parse(
      federation.ask({"job", "show", "test", "--round", std::to_string(kThreadRounds - 1)}));
  const nlohmann::json& facts = answer["data"]["mechanisms"];
  EXPECT_EQ(facts["coordinator"]["threads"], threads) << answer.dump();
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(facts["agents"][Federation::agent_id(i)]["encode_threads"], threads) << answer.dump();
  }
  return answer["data"]["last_round"]["model_hash"].dump();
}

TEST(Threads, AreInTheJournalAndLeaveTheModelAsItIs) {
  const std::string alone = model_with_threads(1);
  EXPECT_EQ(model_with_threads(3), alone);
}

// The names that ps, top and perf show; bench/daemon_rounds.py divides processor time by them.
std::set<std::string> thread_names(const Process& process) {
  std::set<std::string> names;
  std::error_code error;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process.pid());
  for (const auto& task : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name)) names.insert(name);
  }
  return names;
}

void expect_threads(const Process& process, const std::vector<std::string>& expected) {
  const auto missing = [&] {
    std::vector<std::string> missing;
    const std::set<std::string> names = thread_names(process);
    std::ranges::copy_if(expected, std::back_inserter(missing),
                         [&](const std::string& name) { return !names.contains(name); });
    return missing;
  };
  EXPECT_TRUE(eventually([&] { return missing().empty(); }))
      << "not there: " << fmt::format("{}", fmt::join(missing(), ", "));
}

TEST(Threads, HaveNames) {
  Federation federation({.agents = 1, .rounds = 1});
  federation.start_coordinator();
  expect_threads(federation.coordinator(), {"journal", "log copier"});
  federation.coordinator().kill();
  federation.start_agent(0);  // waits for a coordinator
  expect_threads(federation.agent(0), {"journal"});
  federation.kill_agent(0);
}

}  // namespace
}  // namespace tributary::end_to_end
