// Signals during an operation. The program's terminal is stopped, as by Ctrl-S, so that the program
// blocks at its first line of progress: after the first buckets and before the last ones.
#include <gmock/gmock.h>
#include <sched.h>
#include <stdlib.h>
#include <termios.h>

#include <csignal>

#include "cli/end_to_end/program_testing.h"

namespace tributary {
namespace {

using program_testing::ProgramTest;
using program_testing::start;
using program_testing::wait_for;
using testing::ElementsAre;
using testing::HasSubstr;

class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)) {
    EXPECT_TRUE(master_ >= 0 && ::grantpt(master_) == 0 && ::unlockpt(master_) == 0);
    slave_ = ::open(::ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    EXPECT_GE(slave_, 0);
  }
  ~Terminal() {
    ::close(slave_);
    ::close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int file() const { return slave_; }
  void stop() const { EXPECT_EQ(::tcflow(slave_, TCOOFF), 0); }
  void go_on() const { EXPECT_EQ(::tcflow(slave_, TCOON), 0); }
  std::string shown() const {
    std::string text;
    char buffer[4096];
    ssize_t size = 0;
    while ((size = ::read(master_, buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int master_;
  int slave_ = -1;
};

class Interruption : public ProgramTest {
 protected:
  void SetUp() override {
    const int unnamed = ::open(folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (unnamed < 0) GTEST_SKIP() << "no unnamed files on this file system";
    ::close(unnamed);
    write_floats("in", FloatVector(768 << 10, 1.0f));
    write("out", bytes_of(std::string_view("old")));
  }

  // Starts an encoding and returns when part of its output has been written.
  pid_t start_encoding(const Terminal& terminal) const {
    terminal.stop();
    const pid_t child = start({"codec", "encode", "--codec", "fp32", "--bucket-values", "1Ki",
                               "--in", path("in"), "--out", path("out")},
                              {.err = terminal.file()});
    while (!has_written(child)) {
      siginfo_t gone = {};
      if (::waitid(P_PID, static_cast<id_t>(child), &gone, WEXITED | WNOHANG | WNOWAIT) != 0 ||
          gone.si_pid == child) {
        ADD_FAILURE() << "the program ended before it was interrupted: " << terminal.shown();
        break;
      }
      ::sched_yield();
    }
    return child;
  }

  void expect_only_the_old_file() const {
    EXPECT_EQ(read("out"), "old");
    EXPECT_THAT(names(), ElementsAre("in", "out"));
  }

 private:
  // The output is an unnamed file in the test's folder. Its position is in fdinfo.
  bool has_written(pid_t child) const {
    const std::filesystem::path process = "/proc/" + std::to_string(child);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(process / "fd", error)) {
      const std::string target = std::filesystem::read_symlink(entry.path(), error);
      if (target.find(folder().string() + "/#") == std::string::npos) continue;
      std::ifstream info(process / "fdinfo" / entry.path().filename());
      std::string field;
      std::uint64_t position = 0;
      if (info >> field >> position && field == "pos:" && position > 0) return true;
    }
    return false;
  }
};

TEST_F(Interruption, KilledItLeavesTheOldFile) {
  const Terminal terminal;
  const pid_t child = start_encoding(terminal);
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for(child), -SIGKILL);
  expect_only_the_old_file();
}

TEST_F(Interruption, AnInterruptIsReportedAndLeavesTheOldFile) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Terminal terminal;
    const pid_t child = start_encoding(terminal);
    ::kill(child, signal);
    terminal.go_on();
    EXPECT_EQ(wait_for(child), 128 + signal);
    EXPECT_THAT(terminal.shown(), HasSubstr("tributary: cancelled: stopped by"));
    expect_only_the_old_file();
  }
}

TEST_F(Interruption, LeftAloneItShowsHowFarItIs) {
  const Terminal terminal;
  const pid_t child = start_encoding(terminal);
  terminal.go_on();
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_THAT(terminal.shown(), HasSubstr("encoding [##########-"));
  EXPECT_GT(read("out").size(), 3u << 20);
}

}  // namespace
}  // namespace tributary
