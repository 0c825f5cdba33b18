// Jobs managed by an operator's commands, while a federation of processes is running.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

constexpr std::uint64_t kForEver = 1'000'000;

class Jobs : public testing::Test {
 protected:
  static FederationOptions options() {
    return {.agents = 2,
            .rounds = kForEver,
            .parameters = 2'000,
            .agent_settings = {"trainer.train_ms=20"},
            .exit_when_done = false};
  }

  // Returns the "data" object of a command's answer, or fails the test.
  static Json data(const std::string& text) {
    const Json json = Json::parse(text, nullptr, false);
    EXPECT_TRUE(json.is_object() && json.contains("data")) << text;
    return json.is_object() && json.contains("data") ? json["data"] : Json::object();
  }
  static Json job(const Federation& federation, const std::string& name) {
    const Json listed = data(federation.ask({"job", "list"}));
    for (const Json& one : listed.value("jobs", Json::array())) {
      if (one["name"] == name) return one;
    }
    return Json::object();
  }
  static std::uint64_t rounds_of(const Federation& federation, const std::string& name) {
    return job(federation, name).value("rounds_committed", std::uint64_t{0});
  }
  // Waits until the job has committed this round.
  static bool reaches(const Federation& federation, const std::string& name, std::uint64_t round) {
    return eventually([&] { return rounds_of(federation, name) >= round; });
  }
  // Returns a number of rounds that stays the same over many polls. A round takes less time than
  // two polls, and the round under way may still end.
  static std::uint64_t rounds_at_rest(const Federation& federation, const std::string& name) {
    constexpr int kLooks = 12;
    std::uint64_t rounds = rounds_of(federation, name);
    for (int same = 0; same < kLooks; ++same) {
      const std::uint64_t now = rounds_of(federation, name);
      if (now != std::exchange(rounds, now)) same = 0;
    }
    return rounds;
  }
  static std::string write(const Federation& federation, const std::string& name,
                           const std::string& toml) {
    std::ofstream(federation.path(name)) << toml;
    return federation.path(name);
  }
};

TEST_F(Jobs, APausedJobStaysPausedOverARestartAndThenContinues) {
  Federation federation(options());
  federation.start_all();
  ASSERT_TRUE(reaches(federation, "test", 3));
  federation.ask({"job", "pause", "test", "--reason", "the office is open"});
  EXPECT_EQ(job(federation, "test")["state"], "paused");
  EXPECT_EQ(job(federation, "test")["state_reason"], "the office is open");

  const std::uint64_t rounds = rounds_at_rest(federation, "test");
  ASSERT_GE(rounds, 3u);
  federation.coordinator().kill();
  federation.start_coordinator();
  ASSERT_TRUE(federation.coordinator().logs({"job restored"}));
  EXPECT_EQ(rounds_at_rest(federation, "test"), rounds);
  EXPECT_EQ(job(federation, "test")["state"], "paused");

  federation.ask({"job", "resume", "test"});
  EXPECT_TRUE(reaches(federation, "test", rounds + 3));
  federation.ask({"job", "stop", "test"});
  EXPECT_EQ(job(federation, "test")["state"], "stopped");
}

TEST_F(Jobs, AJobThatIsSubmittedWaitsForAgentsAndBeginsWhenTheyAreFree) {
  Federation federation(options());
  federation.start_all();
  ASSERT_TRUE(reaches(federation, "test", 2));
  const std::string file =
      write(federation, "second.toml", "name = \"second\"\nrounds = 4\nparameters = 500\n");
  federation.ask({"job", "submit", file});
  EXPECT_EQ(rounds_of(federation, "second"), 0u);
  federation.ask({"job", "stop", "test"});
  // The command returns when the job has ended.
  const Json ended = data(federation.ask({"job", "watch", "second"}));
  EXPECT_EQ(ended["state"], "finished");
  EXPECT_EQ(ended["rounds_committed"], 4);
  EXPECT_EQ(data(federation.ask({"job", "show", "second"}))["last_round"]["members"], 2);
}

TEST_F(Jobs, JobsOfDifferentAgentsRunAtOnce) {
  FederationOptions options = this->options();
  options.coordinator_settings = {"job.agents=[\"agent-0\"]", "job.agents_min=1"};
  Federation federation(options);
  federation.start_all();
  const std::string file = write(federation, "second.toml",
                                 "name = \"second\"\nrounds = 1000000\nparameters = 500\n"
                                 "agents = [\"agent-1\"]\n");
  federation.ask({"job", "submit", file});
  ASSERT_TRUE(reaches(federation, "test", 3));
  ASSERT_TRUE(reaches(federation, "second", 3));
  const std::uint64_t first = rounds_of(federation, "test");
  const std::uint64_t second = rounds_of(federation, "second");
  EXPECT_TRUE(reaches(federation, "test", first + 3));
  EXPECT_TRUE(reaches(federation, "second", second + 3));
  EXPECT_EQ(data(federation.ask({"job", "show", "second"}))["last_round"]["members"], 1);
  // Both jobs exist after a restart.
  federation.coordinator().kill();
  federation.start_coordinator();
  EXPECT_TRUE(reaches(federation, "test", first + 6));
  EXPECT_TRUE(reaches(federation, "second", second + 6));
}

TEST_F(Jobs, AnInvalidJobIsReportedAndTheOthersContinue) {
  Federation federation(options());
  federation.start_all();
  ASSERT_TRUE(reaches(federation, "test", 1));
  int code = 0;
  const auto error_of = [&](std::vector<std::string> words) {
    return federation.ask(std::move(words), &code);
  };
  const std::string unknown =
      write(federation, "unknown.toml", "name = \"x\"\nrouns = 4\nparameters = 5\n");
  EXPECT_THAT(error_of({"job", "submit", unknown}), HasSubstr("rounds"));
  EXPECT_NE(code, 0);
  const std::string twice =
      write(federation, "twice.toml", "name = \"test\"\nrounds = 4\nparameters = 5\n");
  EXPECT_THAT(error_of({"job", "submit", twice}), HasSubstr("another name"));
  EXPECT_NE(code, 0);
  EXPECT_THAT(error_of({"job", "pause", "tset"}), HasSubstr("tset"));
  EXPECT_NE(code, 0);
  EXPECT_THAT(error_of({"job", "show", "tset"}), HasSubstr("one of test"));
  const std::uint64_t rounds = rounds_of(federation, "test");
  EXPECT_TRUE(reaches(federation, "test", rounds + 2));

  federation.coordinator().kill();
  EXPECT_THAT(error_of({"job", "pause", "test"}), HasSubstr("start the coordinator"));
  EXPECT_NE(code, 0);
  // the journal can be read without the coordinator
  EXPECT_EQ(job(federation, "test")["state"], "running");
}

}  // namespace
}  // namespace tributary::end_to_end
