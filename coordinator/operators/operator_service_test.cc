// Tests of answering operators. One thread asks and waits; the test plays the main loop.
#include "coordinator/operators/operator_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tributary {
namespace {

using Json = nlohmann::json;

// An OperatorService with one job, and an operator's thread that waits for answers.
class OperatorServiceTest : public testing::Test {
 protected:
  OperatorService service{
      {.jobs = [this] { return jobs_; },
       .agents = [] { return std::vector<Coordinator::AgentView>{{.agent_id = "a"}}; }},
      {.ids =
           [] {
             return std::vector<std::string>{"a", "cellar"};
           },
       .allow =
           [this](const AllowedAgent& agent) {
             allowed_.push_back(agent.id + " " + key_text(agent.key));
             return Status();
           },
       .revoke =
           [](const std::string& id) {
             return Status(StatusCode::not_found, {.what = "agent '" + id + "'"});
           }},
      {.incoming_bytes_max = 17u << 20,
       .redo_models = 1,
       .outgoing_bytes_max = 16u << 20,
       .payload_bytes_max = 4u << 20},
      10};
  std::vector<std::string> allowed_;
  std::vector<Coordinator::JobView> jobs_ = {{.job = 7,
                                              .name = "digits",
                                              .state = wire::JobState::running,
                                              .rounds = 100,
                                              .rounds_committed = 3}};

  std::future<Json> ask(const Json& question) {
    return std::async(std::launch::async,
                      [this, text = question.dump()] { return Json::parse(service.answer(text)); });
  }
  // Calls take() until an event for the machine or the answer arrives.
  std::optional<Event> feed_for(std::future<Json>& answer) {
    while (answer.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      std::vector<Event> events = service.take();
      if (!events.empty()) return events.front();
    }
    return std::nullopt;
  }
};

// A list needs no event of the state machine.
TEST_F(OperatorServiceTest, AListIsAnsweredAtOnce) {
  std::future<Json> answer = ask({{"verb", "list"}});
  EXPECT_FALSE(feed_for(answer));
  const Json data = answer.get()["data"];
  EXPECT_EQ(data["jobs"][0]["name"], "digits");
  EXPECT_EQ(data["jobs"][0]["rounds_committed"], 3);
  EXPECT_EQ(data["agents"][0]["agent_id"], "a");
  EXPECT_EQ(data["allowed"], (Json{"a", "cellar"}));
}

// A command is answered only once the machine reports its result.
TEST_F(OperatorServiceTest, AChangeIsAnsweredWhenItIsDone) {
  std::future<Json> answer = ask({{"verb", "pause"}, {"job", "digits"}, {"reason", "lunch"}});
  const std::optional<Event> event = feed_for(answer);
  ASSERT_TRUE(event);
  const auto& change = std::get<ChangeJob>(*event);
  EXPECT_EQ(change.job, 7u);
  EXPECT_EQ(change.command, 10u);
  EXPECT_EQ(change.state, wire::JobState::paused);
  EXPECT_EQ(change.reason, "lunch");
  EXPECT_FALSE(service.done({.command = 9, .status = {}, .job = 7})) << "of another operator";
  EXPECT_TRUE(service.done({.command = 10, .status = {}, .job = 7}));
  EXPECT_EQ(answer.get()["data"]["job"], 7);
}

TEST_F(OperatorServiceTest, ARefusalOfTheMachineIsAnError) {
  std::future<Json> answer = ask({{"verb", "stop"}, {"job", "7"}});
  ASSERT_TRUE(feed_for(answer));
  service.done({.command = 10,
                .status = Status(StatusCode::not_found, {.what = "job 7", .got = "none"}),
                .job = 7});
  const Json error = answer.get()["error"];
  EXPECT_EQ(error["code"], "not_found");
  EXPECT_EQ(error["what"], "job 7");
}

// The name of a job can be used again once the job is over.
TEST_F(OperatorServiceTest, ANameIsOneJobsUntilThatIsOver) {
  const Json submit = {{"verb", "submit"},
                       {"job",
                        "name = \"digits\"\nrounds = 2\nparameters = 10\n"
                        "codec = \"threelc:s=1.75,clip=0\"\n"}};
  std::future<Json> refused = ask(submit);
  EXPECT_FALSE(feed_for(refused));
  EXPECT_EQ(refused.get()["error"]["code"], "already_exists");
  jobs_[0].state = wire::JobState::finished;
  std::future<Json> taken = ask(submit);
  const std::optional<Event> event = feed_for(taken);
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<SubmitJob>(*event).definition.rounds, 2u);
  service.done({.command = std::get<SubmitJob>(*event).command, .status = {}, .job = 8});
  const Json data = taken.get()["data"];
  EXPECT_EQ(data["job"], 8);
  ASSERT_EQ(data["warnings"].size(), 1u) << "a sparse codec needs more than 2 rounds";
  EXPECT_NE(data["warnings"][0].get<std::string>().find("the job has 2 rounds"), std::string::npos);
  for (const char* const side : {"coordinator", "agent"}) {
    std::uint64_t bytes = 0;
    for (const Json& holding : data["memory"][side]) bytes += holding["bytes"].get<std::uint64_t>();
    EXPECT_EQ(data["memory"][std::string(side) + "_bytes"], bytes) << side;
    EXPECT_GT(bytes, 1u << 20) << side;
  }
}

TEST_F(OperatorServiceTest, ANameRefersToTheJobThatIsNotOver) {
  jobs_.push_back({.job = 8, .name = "digits", .state = wire::JobState::finished});
  std::future<Json> answer = ask({{"verb", "stop"}, {"job", "digits"}});
  const std::optional<Event> event = feed_for(answer);
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<ChangeJob>(*event).job, 7u);
  service.done({.command = 10, .status = {}, .job = 7});
  answer.get();
}

// A change of the allow-list does not wait for the loop.
TEST_F(OperatorServiceTest, AgentsAreAllowedAndRevokedWithoutTheLoop) {
  const std::string key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
  std::future<Json> allow = ask({{"verb", "allow"}, {"agent", "roof"}, {"key", key}});
  EXPECT_EQ(allow.get()["data"]["agent"], "roof");
  EXPECT_EQ(allowed_, std::vector<std::string>{"roof " + key});
  std::future<Json> revoke = ask({{"verb", "revoke"}, {"agent", "nobody"}});
  EXPECT_EQ(revoke.get()["error"]["code"], "not_found");
  EXPECT_TRUE(service.take().empty());
}

TEST_F(OperatorServiceTest, ADaemonThatEndsReleasesItsWaiters) {
  std::future<Json> answer = ask({{"verb", "pause"}, {"job", "digits"}});
  ASSERT_TRUE(feed_for(answer));
  service.close();
  EXPECT_EQ(answer.get()["error"]["code"], "unavailable");
  EXPECT_EQ(ask({{"verb", "list"}}).get()["error"]["code"], "unavailable");
}

}  // namespace
}  // namespace tributary
