// An agent that starts with a join file and no other configuration.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <string>
#include <vector>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

// The operator's steps: create the join file, then let the coordinator read its list again.
std::string let_in(Federation& federation, const std::string& id) {
  std::string file = federation.path(id + ".join");
  const Status written = write_public_key(federation.path("coordinator.key.pub"),
                                          federation.keys_of_coordinator().public_key);
  EXPECT_TRUE(written.ok()) << written.text();
  Process command({TRIBUTARY_CLI, "keys", "join", id, "--coordinator", federation.endpoint(),
                   "--list", federation.path("agents.allow"), "--coordinator-key-file",
                   federation.path("coordinator.key.pub"), "--out", file},
                  federation.path("join.log"));
  EXPECT_EQ(command.wait(), 0);
  federation.coordinator().signal(SIGHUP);
  EXPECT_TRUE(federation.coordinator().logs({"allow-list read again"}));
  return file;
}

// The step on the device.
Process agent_with(const Federation& federation, const std::string& join_file,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> command = {TRIBUTARY_AGENT, "--exit-when-done",
                                      "--join",        join_file,
                                      "--set",         "journal.file=" + federation.path("new.db")};
  command.insert(command.end(), more.begin(), more.end());
  return Process(command, federation.path("new.log"));
}

TEST(Join, TheFileIsAllThatAnAgentNeeds) {
  Federation federation({.agents = 1, .rounds = 4, .coordinator_settings = {"job.agents_min=2"}});
  federation.start_all();
  Process newcomer = agent_with(federation, let_in(federation, "garage-01"));
  EXPECT_EQ(newcomer.wait(), 0) << federation.path("new.log");
  EXPECT_FALSE(newcomer.lines_with({"model stored", "model_version=4"}).empty());
  federation.expect_all_end();
  EXPECT_EQ(federation.coordinator().lines_with({"round committed", "contributors=2"}).size(), 4u);
}

TEST(Join, SettingsTakePrecedenceOverTheJoinFile) {
  Federation federation({.agents = 1, .rounds = 1});
  federation.start_coordinator();
  const std::string file = let_in(federation, "garage-01");
  const std::string coordinator = federation.endpoint();
  const std::string elsewhere = "tcp://localhost" + coordinator.substr(coordinator.rfind(':'));
  Process agent = agent_with(federation, file, {"--set", "link.coordinator=" + elsewhere});
  EXPECT_EQ(agent.wait(), 0) << federation.path("new.log");
  EXPECT_EQ(agent.lines_with({"started", elsewhere}).size(), 1u);
}

TEST(Join, AnInvalidJoinFileEndsTheAgentWithTheReason) {
  Federation federation({.agents = 1, .rounds = 1});
  federation.start_coordinator();
  const std::string file = let_in(federation, "garage-01");
  const auto ends = [&](int code, const std::string& words, const std::string& join_file,
                        const std::vector<std::string>& more = {}) {
    Process agent = agent_with(federation, join_file, more);
    EXPECT_EQ(agent.wait(), code);
    EXPECT_FALSE(agent.lines_with({words}).empty()) << words;
  };
  ends(21, "tributary keys join", federation.path("none.join"));
  ends(11, "line 2: expected a known name", federation.path("coordinator.key"));
  ends(10, "leave link.key_file out", file,
       {"--set", "link.key_file=" + federation.path("agent-0.key")});
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ends(10, "chmod 600", file);
}

}  // namespace
}  // namespace tributary::end_to_end
