// Tests of the coordinator's settings, mainly those that need each other.
#include "coordinator/config.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace tributary {
namespace {

using testing::HasSubstr;

Result<CoordinatorSettings> read_with(std::vector<std::string> assignments) {
  DaemonFlags flags;
  flags.assignments = {"journal.file=run.db", "link.key_file=coordinator.key",
                       "link.allow_file=agents.allow"};
  flags.assignments.insert(flags.assignments.end(), assignments.begin(), assignments.end());
  return read_coordinator_settings(flags);
}

TEST(CoordinatorConfig, NoObserverIsAllowedWithoutAPort) {
  const auto settings = read_with({});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_TRUE(settings->watch_endpoint.empty());
  EXPECT_TRUE(settings->watch_operators.empty());
}

TEST(CoordinatorConfig, WatchersNeedAListOfTheirOwn) {
  const std::string port = "watch.endpoint=tcp://*:4641";
  EXPECT_THAT(read_with({port}).status().text(), HasSubstr("watch.allow_file"));
  EXPECT_TRUE(read_with({port, "link.encrypted=false"}).ok()) << "but for whoever may come in";
  const auto settings =
      read_with({port, "watch.allow_file=watchers.allow", "watch.operators=[\"desk-1\", \"b\"]"});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->watch_operators, (std::vector<std::string>{"desk-1", "b"}));
}

// libzmq cuts a port to 16 bits, so a port that is too large would be another one.
TEST(CoordinatorConfig, EndpointsHaveASchemeAndAPort) {
  for (const std::string wrong :
       {"4640", "http://*:4640", "tcp://*:99999", "tcp://lan", "tcp://:"}) {
    EXPECT_THAT(read_with({"link.endpoint=\"" + wrong + "\""}).status().text(),
                HasSubstr("setting link.endpoint: endpoint: expected tcp://ADDRESS:PORT"))
        << wrong;
  }
  for (const std::string right :
       {"tcp://*:4640", "tcp://[::1]:0", "tcp://127.0.0.1:*", "ipc:///x"}) {
    EXPECT_TRUE(read_with({"link.endpoint=" + right}).ok()) << right;
  }
}

TEST(CoordinatorConfig, AJobIsReadFromAnyOfItsKeys) {
  EXPECT_FALSE(read_with({})->job);
  const auto settings = read_with({"job.name=first", "job.rounds=3", "job.parameters=10"});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->job->rounds, 3u);
  // Without its required keys a job is an error, and no key of it is ignored.
  EXPECT_THAT(read_with({"job.codec=thc"}).status().text(), HasSubstr("got no name"));
  EXPECT_THAT(read_with({"job.rounds=3", "job.parameters=10"}).status().text(),
              HasSubstr("got no name"));
  EXPECT_THAT(read_with({"job.name=first"}).status().text(), HasSubstr("got no rounds"));
}

TEST(CoordinatorConfig, AJobIsInAFileOrInTheSettings) {
  DaemonFlags flags;
  flags.assignments = {"journal.file=run.db", "link.encrypted=false", "job.rounds=3"};
  flags.job = "first.toml";
  EXPECT_THAT(read_coordinator_settings(flags).status().text(),
              HasSubstr("got --job first.toml and such settings"));
  flags.assignments.pop_back();
  EXPECT_THAT(read_coordinator_settings(flags).status().text(), HasSubstr("first.toml"))
      << "the file is read";
}

TEST(CoordinatorConfig, AnEvaluationNeedsExamplesThatExist) {
  const Status status = read_with({"evaluation.path=/nowhere/digits"}).status();
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_THAT(status.text(), HasSubstr("setting evaluation.path"));
  EXPECT_THAT(status.text(), HasSubstr("'/nowhere/digits', which does not exist"));
}

TEST(CoordinatorConfig, AnOperatorIsAnId) {
  const Status status = read_with({"watch.endpoint=tcp://*:4641", "watch.allow_file=w.allow",
                                   "watch.operators=[\"not an id\"]"})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.text(), HasSubstr("watch.operators"));
}

}  // namespace
}  // namespace tributary
