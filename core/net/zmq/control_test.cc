// Tests of the control socket with a real file, and with daemons that are slow or have ended.
#include "core/net/zmq/control.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

namespace tributary {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class Control : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "tributary-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return control_path((folder_ / "run.db").string()); }

  std::filesystem::path folder_;
};

// The answer of the test's daemon: the question with an exclamation mark.
std::string with_mark(std::string_view question) { return std::string(question) + "!"; }

// Eight askers at once; the handler never runs twice at a time, so a daemon needs no lock in it.
TEST_F(Control, QuestionsAreAnsweredOneAfterTheOther) {
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  const auto server = ControlServer::open(path(), [&](std::string_view question) {
    most = std::max<int>(most, ++at_once);
    std::string answer = with_mark(question);
    --at_once;
    return answer;
  });
  ASSERT_TRUE(server.ok()) << server.status().text();
  std::vector<std::thread> askers;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&, i] {
      const std::string question = "question " + std::to_string(i);
      const Result<std::string> answer = ask_daemon(path(), question, seconds(30));
      if (answer.ok() && *answer == question + "!") ++right;
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(right, 8);
  EXPECT_EQ(most, 1);
}

// Every process that may open the socket may stop jobs.
TEST_F(Control, TheSocketIsItsOwnersAlone) {
  const auto server = ControlServer::open(path(), with_mark);
  ASSERT_TRUE(server.ok()) << server.status().text();
  struct stat about = {};
  ASSERT_EQ(::stat(path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0077, 0u);
}

// Within 600 s: the test would time out if it waited for the patience that it states.
TEST_F(Control, AnAddressWithoutAListenerFailsAtOnce) {
  const Result<std::string> answer = ask_daemon(path(), "who", seconds(600));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.status().code(), StatusCode::unavailable);
  EXPECT_THAT(answer.status().text(), HasSubstr("start the coordinator"));
}

// The file is moved aside, so that the ended server cannot remove it; then it is a socket without a
// listener.
TEST_F(Control, AFileThatAKilledDaemonLeftIsReplacedAndAnEndedOneLeavesNone) {
  {
    const auto left = ControlServer::open(path(), with_mark);
    ASSERT_TRUE(left.ok());
    std::filesystem::rename(path(), folder_ / "aside");
  }
  std::filesystem::rename(folder_ / "aside", path());
  EXPECT_FALSE(ask_daemon(path(), "who", seconds(600)).ok());
  {
    const auto server = ControlServer::open(path(), with_mark);
    ASSERT_TRUE(server.ok()) << server.status().text();
    EXPECT_EQ(ask_daemon(path(), "who", seconds(30)).value(), "who!");
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// The length of a socket's path is limited by the system (108 bytes on Linux).
TEST_F(Control, LargeQuestionsAndLongPathsAreRefused) {
  const auto server = ControlServer::open(path(), with_mark);
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(ask_daemon(path(), std::string(kControlBytesMax + 1, 'x'), seconds(30)).status().code(),
            StatusCode::resource_exhausted);
  EXPECT_EQ(ask_daemon(path(), std::string(1000, 'x'), seconds(30)).value().size(), 1001u);
  const std::string deep = (folder_ / std::string(200, 'x')).string();
  EXPECT_EQ(ask_daemon(deep, "x", seconds(30)).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(ControlServer::open(deep, with_mark).status().code(), StatusCode::invalid_argument);
}

// The daemon would not answer for 600 s.
TEST_F(Control, ACancelledQuestionReturnsAtOnce) {
  std::atomic<bool> asked = false;
  std::atomic<bool> over = false;
  const auto server = ControlServer::open(path(), [&](std::string_view) {
    asked = true;
    while (!over) std::this_thread::yield();
    return std::string();
  });
  ASSERT_TRUE(server.ok());
  std::atomic<bool> cancelled = false;
  std::thread gives_up([&] {
    while (!asked) std::this_thread::yield();
    cancelled = true;
  });
  EXPECT_EQ(ask_daemon(path(), "who", seconds(600), &cancelled).status().code(),
            StatusCode::cancelled);
  gives_up.join();
  over = true;
}

}  // namespace
}  // namespace tributary
