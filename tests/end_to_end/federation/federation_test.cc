// Jobs without disturbances, and the start and the end of daemons.
#include "tests/end_to_end/federation/federation.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"

namespace tributary::end_to_end {
namespace {

TEST(Federation, ThreeAgentsTrainToTheEndWithIdenticalReplicas) {
  Federation federation({});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Federation, ALateAgentCatchesUp) {
  Federation federation({.rounds = 40,
                         .coordinator_settings = {"job.agents_min=2"},
                         .agent_settings = {"trainer.train_ms=50"}});
  federation.start_coordinator();
  federation.start_agent(0);
  federation.start_agent(1);
  ASSERT_TRUE(federation.committed(3));
  federation.start_agent(2);
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Federation, SigtermEndsAllAndARestartContinues) {
  Federation federation({.rounds = 60, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(3));
  for (std::uint32_t i = 0; i < 3; ++i) federation.agent(i).signal(SIGTERM);
  federation.coordinator().signal(SIGTERM);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(federation.agent(i).wait(), 0);
    federation.kill_agent(i);
  }
  EXPECT_EQ(federation.coordinator().wait(), 0);
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Federation, AnAgentIsNotStartedTwiceOverOneJournal) {
  Federation federation({.rounds = 40, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(1));
  Process second(federation.agent_command(0), federation.path("second.log"));
  EXPECT_EQ(second.wait(), 22);
  EXPECT_FALSE(second.lines_with({"already_exists"}).empty());
  federation.expect_all_end();
  federation.expect_sound();
}

TEST(Federation, AnAgentIsNotStartedTwiceOverAnotherJournalEither) {
  Federation federation(
      {.coordinator_settings = {"metrics.listen=127.0.0.1:0", "retry.ack_timeout_ms=100"}});
  federation.start_coordinator();
  federation.start_agent(0);
  federation.start_agent(1);
  ASSERT_TRUE(federation.agent(0).logs({"job"}));
  std::vector<std::string> command = federation.agent_command(0);
  command.insert(command.end(), {"--set", "journal.file=" + federation.path("second.db"), "--set",
                                 "hello.duplicate_refusals_max=3"});
  Process second(command, federation.path("second.log"));
  EXPECT_EQ(second.wait(), 22) << "it may be the same agent after a restart: it asks four times";
  EXPECT_EQ(
      federation.metric("tributary_notes_total{name=\"frame_refused\",reason=\"duplicate_agent\"}"),
      4);
  Process& coordinator = federation.coordinator();
  EXPECT_EQ(coordinator.lines_with({"reason=duplicate_agent", "source=agent-0"}).size(), 1u);
  EXPECT_TRUE(coordinator.lines_with({"agent_gone"}).empty());
  federation.start_agent(2);
  federation.expect_all_end();
  federation.expect_sound();
}

// --- journals
// -------------------------------------------------------------------------------------

TEST(Federation, TheJournalKeepsEventsMetricsAndLinks) {
  Federation federation({.coordinator_settings = {"metrics.listen=127.0.0.1:0"}});
  federation.start_coordinator();
  federation.start_agent(0);
  federation.start_agent(1);
  EXPECT_TRUE(eventually([&] { return federation.metric("tributary_round_trips_total") >= 10; }));
  federation.agent(1).signal(SIGTERM);
  EXPECT_EQ(federation.agent(1).wait(), 0);
  EXPECT_TRUE(federation.coordinator().logs({"agent_gone", "agent-1"}));
  federation.kill_agent(1);
  federation.start_agent(1);
  federation.start_agent(2);
  federation.expect_all_end();
  federation.expect_sound();

  const auto file = RunFile::open(federation.path("coordinator.db"));
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto rounds = (*file)->metrics("round_s", 0, 100);
  ASSERT_TRUE(rounds.ok()) << rounds.status().text();
  ASSERT_EQ(rounds->size(), 5u);
  EXPECT_EQ(rounds->back().round, 5u);
  EXPECT_GT(rounds->back().value, 0);
  EXPECT_FALSE((*file)->metrics("agents", 0, 100)->empty());
  const auto events = (*file)->events(0, 100);
  ASSERT_TRUE(events.ok()) << events.status().text();
  std::set<std::string> gone;
  for (const StoredEvent& event : *events) {
    if (event.name == "agent_gone") gone.insert(event.source);
  }
  // The coordinator may end before it receives the Leave messages that follow the last round.
  EXPECT_TRUE(gone.contains("agent-1"));
  for (const std::string& id : gone) EXPECT_TRUE(id.starts_with("agent-")) << id;
  const auto links = (*file)->link_samples(0, 100);
  ASSERT_TRUE(links.ok()) << links.status().text();
  std::set<std::string> reached;
  std::set<std::string> measured;
  for (const StoredLinkSample& link : *links) {
    const bool is_rate = std::isfinite(link.sample.beta_s_per_byte);
    if (link.sample.from.empty() && is_rate) {  // payloads measure the rate, in both directions
      EXPECT_GT(link.sample.beta_s_per_byte, 0);
    } else if (link.sample.from.empty()) {  // heartbeats measure the latency
      reached.insert(link.sample.to);
      EXPECT_GT(link.sample.alpha_s, 0);
      EXPECT_LT(link.sample.alpha_s, 60);
    } else {
      measured.insert(link.sample.from);
      EXPECT_GT(link.sample.beta_s_per_byte, 0);
    }
  }
  EXPECT_FALSE(reached.empty());
  EXPECT_FALSE(measured.empty());
}

// --- service manager
// ------------------------------------------------------------------------------

// The service manager's end of the notification socket.
class ServiceManager {
 public:
  explicit ServiceManager(const std::string& path)
      : file_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    EXPECT_EQ(::bind(file_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const timeval patience = {.tv_sec = kPatience.count(), .tv_usec = 0};
    ::setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~ServiceManager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(file_);
  }
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  std::string hears() const {
    std::array<char, 100> text{};
    const ssize_t bytes = ::recv(file_, text.data(), text.size(), 0);
    return {text.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
  }

 private:
  int file_;
};

TEST(Federation, TheServiceManagerHearsOfBothDaemons) {
  Federation federation({.agents = 1});
  const ServiceManager manager(federation.path("notify"));
  federation.start_coordinator();
  EXPECT_EQ(manager.hears(), "READY=1");
  federation.coordinator().signal(SIGTERM);
  EXPECT_EQ(manager.hears(), "STOPPING=1");
  EXPECT_EQ(federation.coordinator().wait(), 0);
  federation.start_agent(0);
  EXPECT_EQ(manager.hears(), "READY=1");
  federation.agent(0).signal(SIGINT);
  EXPECT_EQ(manager.hears(), "STOPPING=1");
  EXPECT_EQ(federation.agent(0).wait(), 0);
}

// A folder in place of the journal, a missing key file, a port in use, a setting without meaning,
// and an unknown word.
TEST(Federation, TheExitCodeOfADaemonNamesTheReason) {
  Federation federation({});
  federation.start_coordinator();
  const auto code_with = [&](std::vector<std::string> more) {
    std::vector<std::string> command = federation.agent_command(0);
    command.insert(command.end(), more.begin(), more.end());
    return Process(command, federation.path("code.log")).wait();
  };
  EXPECT_EQ(code_with({"--set", "journal.file=" + federation.folder().string()}), 20);
  EXPECT_EQ(code_with({"--set", "link.key_file=" + federation.path("nowhere.key")}), 21);
  EXPECT_EQ(code_with({"--set", "hello.timeout_ms=0"}), 10);
  EXPECT_EQ(code_with({"--set", "metrics.listen=" + federation.endpoint().substr(6)}), 20);
  EXPECT_EQ(code_with({"--nonsense"}), 2);
  EXPECT_EQ(code_with({"--check"}), 0);
  std::vector<std::string> again = federation.coordinator_command();
  again.insert(again.end(), {"--set", "journal.file=" + federation.path("again.db")});
  EXPECT_EQ(Process(again, federation.path("code.log")).wait(), 20) << "the port is taken";
  EXPECT_EQ(Process(federation.coordinator_command(), federation.path("code.log")).wait(), 22)
      << "the journal is another's";
}

TEST(Federation, ASecondSignalEndsADaemonAtOnce) {
  Federation federation({.agents = 1,
                         .coordinator_settings = {"heartbeat.timeout_ms=600000"},
                         .agent_settings = {"stop.grace_ms=600000"}});
  federation.start_coordinator();
  federation.start_agent(0);
  ASSERT_TRUE(federation.agent(0).logs({"job"}));
  // A stopped coordinator does not answer the agent's Leave, and the agent would wait for it.
  federation.coordinator().signal(SIGSTOP);
  federation.agent(0).signal(SIGTERM);
  ASSERT_TRUE(federation.agent(0).logs({"stopping"}));
  federation.agent(0).signal(SIGTERM);
  EXPECT_EQ(federation.agent(0).wait(), 128 + SIGTERM);
  federation.coordinator().signal(SIGCONT);
}

}  // namespace
}  // namespace tributary::end_to_end
