// Many simulated agents against a coordinator that the program starts itself.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::ProgramTest;
using program_testing::run;
using program_testing::start;
using program_testing::wait_for;

TEST(Load, EveryAgentGetsEveryRoundWithAndWithoutEncryption) {
  for (const char* curve : {"on", "off"}) {
    const Outcome outcome = run({"load", "--agents", "5", "--params", "2000", "--codec", "thc",
                                 "--rounds", "4", "--curve", curve, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    const Json data = Json::parse(outcome.out)["data"];
    EXPECT_EQ(data["agents_finished"], 5);
    EXPECT_EQ(data["agents_lost"], 0);
    EXPECT_EQ(data["replicas_identical"], true);
    EXPECT_GT(data["round_s_median"], 0);
    EXPECT_GT(data["coordinator_peak_bytes"], 1 << 20);
    EXPECT_GT(data["bytes_up"], 0);
    EXPECT_GT(data["bytes_down"], 0);
  }
}

TEST(Load, ACoordinatorThatCannotBeStartedIsAnError) {
  const Outcome outcome = run({"load", "--agents", "1", "--params", "10", "--codec", "fp32",
                               "--coordinator", "/nowhere/at/all"});
  EXPECT_EQ(outcome.code, 21) << outcome.err;
}

// Reads what the processes of a test write to a pipe, until all of them have ended.
class SharedPipe {
 public:
  SharedPipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~SharedPipe() {
    close_writer();
    ::close(ends_[0]);
  }
  SharedPipe(const SharedPipe&) = delete;
  SharedPipe& operator=(const SharedPipe&) = delete;

  int writer() const { return ends_[1]; }
  // The processes that were started before have the writer, too.
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  // Empty: no process has the writer any more, or nothing was written for a minute.
  std::string read() const {
    std::array<char, 256> buffer = {};
    if (!is_ready()) return {};
    const ssize_t size = ::read(ends_[0], buffer.data(), buffer.size());
    return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
  }
  bool is_ready() const {
    constexpr int kMinuteMs = 60'000;
    pollfd waited = {.fd = ends_[0], .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, kMinuteMs) == 1;
  }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

class LoadWithAWrapper : public ProgramTest {
 protected:
  // A script that runs the coordinator as a child, as time(1) and strace do. Its process number and
  // its log go to the pipe, and the log to the wrapper's own standard error, too.
  std::string wrapper(const SharedPipe& pipe) const {
    namespace fs = std::filesystem;
    const fs::path programs = fs::path(TRIBUTARY_PROGRAM).parent_path().parent_path();
    const std::string coordinator = programs / "coordinator/tributary-coordinator";
    const std::string script = "#!/bin/sh\n{ '" + coordinator +
                               "' \"$@\" 2>&1 & echo pid $!; wait; } | tee /dev/fd/" +
                               std::to_string(pipe.writer()) + " >&2\n";
    std::string file = write("wrapper.sh", bytes_of(std::string_view(script)));
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
};

TEST_F(LoadWithAWrapper, ASignalEndsTheWrappersChildToo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SharedPipe pipe;
    const pid_t load = start({"load", "--agents", "2", "--params", "1000", "--codec", "fp32",
                              "--rounds", "1000000", "--coordinator", wrapper(pipe)},
                             {});
    pipe.close_writer();
    std::string log;
    while (log.find("listening") == log.npos) {
      const std::string more = pipe.read();
      ASSERT_FALSE(more.empty()) << "the coordinator does not listen: " << log;
      log += more;
    }
    ::kill(load, signal);
    EXPECT_EQ(wait_for(load), 128 + signal);
    std::string more = " ";
    while (pipe.is_ready() && !more.empty()) more = pipe.read();
    EXPECT_TRUE(more.empty()) << "the coordinator goes on";
    if (!more.empty()) ::kill(std::stoi(log.substr(log.find("pid ") + 4)), SIGKILL);
  }
}

}  // namespace
}  // namespace tributary
