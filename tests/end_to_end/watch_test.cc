// A run that is watched from another machine, while its coordinator is a process that can be
// killed.
#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/clock.h"
#include "core/net/access/allow_list.h"
#include "core/watch/remote_run.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

class Watching : public testing::Test {
 protected:
  void SetUp() override {
    // One observer who may only watch, and one who is an operator.
    watcher_ = allowed("desk-1");
    chief_ = allowed("chief");
    federation_.set_for_coordinator("watch.allow_file=" + federation_.path("watchers.allow"));
    federation_.set_for_coordinator("watch.operators=[\"chief\"]");
    federation_.set_for_coordinator("watch.endpoint=tcp://127.0.0.1:*");
    federation_.start_all();
    ASSERT_TRUE(federation_.coordinator().logs({"observers can connect"}));
    endpoint_ =
        field(federation_.coordinator().lines_with({"observers can connect"}).back(), "endpoint");
    // A restarted coordinator must use the same port.
    federation_.set_for_coordinator("watch.endpoint=" + endpoint_);
  }

  KeyPair allowed(const std::string& id) {
    KeyPair keys = make_key_pair().value();
    const Status status =
        allow_in_file(federation_.path("watchers.allow"), {.id = id, .key = keys.public_key});
    EXPECT_TRUE(status.ok()) << status.text();
    return keys;
  }
  RemoteRunOptions options(const KeyPair& keys) const {
    return {.endpoint = endpoint_,
            .keys = keys,
            .coordinator = federation_.keys_of_coordinator().public_key};
  }
  bool reads(RemoteRun& run, const std::function<bool(const Status&)>& condition) {
    return eventually([&] { return condition(run.step(changes_).status()); });
  }
  static Json ask(RemoteRun& run, const Json& question) {
    const Result<std::string> answer = run.ask_operator(question.dump());
    EXPECT_TRUE(answer.ok()) << answer.status().text();
    return Json::parse(answer.ok() ? *answer : "{}", nullptr, false);
  }

  SystemClock clock_;
  Federation federation_{{.agents = 2,
                          .rounds = 1'000'000,
                          .parameters = 2'000,
                          .agent_settings = {"trainer.train_ms=20"},
                          .exit_when_done = false}};
  KeyPair watcher_ = make_key_pair().value();
  KeyPair chief_ = watcher_;
  std::string endpoint_;
  RunChanges changes_;
};

TEST_F(Watching, AKilledCoordinatorIsWatchedOnWhenItIsBack) {
  RemoteRun run(options(watcher_), clock_);
  ASSERT_TRUE(reads(run, [&](const Status&) { return changes_.rounds.size() >= 5; }));
  ASSERT_TRUE(changes_.jobs && changes_.jobs->size() == 1);
  EXPECT_EQ(changes_.jobs->front().name, "test");
  EXPECT_EQ(changes_.jobs->front().parameters, 2'000u);

  federation_.coordinator().kill();
  ASSERT_TRUE(
      reads(run, [](const Status& status) { return status.code() == StatusCode::unavailable; }));
  const std::uint64_t before = changes_.rounds.back().round;
  federation_.start_coordinator();
  ASSERT_TRUE(reads(run, [&](const Status& status) {
    return status.ok() && !changes_.rounds.empty() && changes_.rounds.back().round >= before + 5;
  }));
  // The observer reads the run from its beginning again after the restart.
  EXPECT_TRUE(changes_.begins_anew);
  for (std::size_t i = 0; i < changes_.rounds.size(); ++i) {
    ASSERT_EQ(changes_.rounds[i].round, i + 1) << "each once";
  }
  const Result<RoundDetail> detail = run.round_detail(changes_.rounds[2].job, 3);
  ASSERT_TRUE(detail.ok()) << detail.status().text();
  EXPECT_EQ(detail->agents.size(), 2u);
}

TEST_F(Watching, AnAllowedObserverSendsOperatorsCommands) {
  RemoteRun run(options(watcher_), clock_);
  ASSERT_TRUE(reads(run, [&](const Status&) { return changes_.rounds.size() >= 2; }));
  const Status refused = run.ask_operator("{\"verb\":\"stop\",\"job\":\"test\"}").status();
  // The error names the key's identifier, so that the operator knows whom to allow.
  EXPECT_EQ(refused.code(), StatusCode::permission_denied);
  EXPECT_THAT(refused.text(), HasSubstr("'desk-1'"));

  RemoteRun chief(options(chief_), clock_);
  EXPECT_EQ(ask(chief, {{"verb", "pause"}, {"job", "test"}, {"reason", "lunch"}})["status"], "ok");
  const Json listed = ask(chief, {{"verb", "list"}});
  EXPECT_EQ(listed["data"]["jobs"][0]["state"], "paused") << listed;
  EXPECT_EQ(ask(chief, {{"verb", "resume"}, {"job", "nobody"}})["error"]["code"], "not_found");
  EXPECT_TRUE(reads(run, [&](const Status&) {
    return changes_.jobs && changes_.jobs->front().reason == "lunch";
  })) << "what one has done the other sees";
}

TEST_F(Watching, AgentsAreRevokedAndAllowedWhileItRuns) {
  RemoteRun chief(options(chief_), clock_);
  const auto agents = [&] { return ask(chief, {{"verb", "list"}})["data"]["agents"].size(); };
  ASSERT_TRUE(eventually([&] { return agents() == 2; }));
  const PublicKey key = read_key_pair(federation_.path("agent-1.key")).value().public_key;
  EXPECT_EQ(ask(chief, {{"verb", "revoke"}, {"agent", "agent-1"}})["status"], "ok");
  EXPECT_EQ(read_allow_file(federation_.path("agents.allow")).value().size(), 1u);
  EXPECT_TRUE(eventually([&] { return agents() == 1; })) << "nothing more is taken from it";
  EXPECT_EQ(ask(chief, {{"verb", "allow"}, {"agent", "agent-1"}, {"key", key_text(key)}})["status"],
            "ok");
  EXPECT_TRUE(eventually([&] { return agents() == 2; })) << "it comes in by itself";
}

}  // namespace
}  // namespace tributary::end_to_end
