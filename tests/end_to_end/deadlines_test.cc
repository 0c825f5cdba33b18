// A deadline that an agent's uplink cannot meet, and repeated bytes, as the operator's commands
// show them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/store/coordinator/coordinator_journal.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// The uplink of agent-1 needs 6 s for an update of 1.2 MB, which is a single bucket.
FederationOptions slow_uplink() {
  return {
      .agents = 2,
      .rounds = 5,
      .parameters = 300'000,
      .coordinator_settings = {"job.deadline_ms=4000", "job.bucket_values=1000000", "job.quorum=1",
                               "job.agents_min=2", "metrics.listen=127.0.0.1:0"},
      .exit_when_done = false};
}

// Returns the data of `job show`; an empty object if the command failed.
Json shown(const Federation& federation) {
  const Json json = Json::parse(federation.ask({"job", "show", "test"}), nullptr, false);
  return json.is_object() ? json.value("data", Json::object()) : Json::object();
}

TEST(Deadlines, AShortDeadlinePausesTheJobAndNamesASufficientOne) {
  Federation federation(slow_uplink());
  federation.set_for_agent(1, "link.shape_bytes_per_s=200000");
  // Without a burst the rate limit applies from the first byte on.
  federation.set_for_agent(1, "link.shape_burst_bytes=0");
  federation.start_all();
  ASSERT_TRUE(eventually([&] {
    return federation.metric(
               "tributary_notes_total{name=\"deadline_too_short\",reason=\"uplink\"}") >= 1;
  }));
  ASSERT_TRUE(eventually([&] { return shown(federation).value("state", "") == "paused"; }));
  const std::string reason = shown(federation).value("state_reason", "");
  EXPECT_THAT(
      reason,
      HasSubstr("Round 1 cannot collect its updates within its deadline of 4.0 s: the uplink of "
                "agent-1 carries 1."));
  EXPECT_THAT(reason, HasSubstr("Submit the job again with deadline_ms = 1"));
  EXPECT_EQ(shown(federation)["rounds_committed"], 0);
}

// Adds readings as a coordinator stores them, for this job and for another one.
void add_repeats(const Federation& federation, std::uint64_t job) {
  auto journal = CoordinatorJournal::open({.journal = {.path = federation.coordinator_journal()}});
  ASSERT_TRUE(journal.ok()) << journal.status().text();
  TelemetryRows rows;
  const auto add = [&](std::string_view name, double value, std::uint64_t of) {
    rows.metrics.push_back({.at_wall_ns = 1'000'000'000'000'000'000,
                            .reading = {.name = name, .value = value, .job = of, .round = 1}});
  };
  add("repeated_up_known_bytes", 4'096, job);
  add("repeated_up_known_bytes", 1'000, job);
  add("repeated_down_session_bytes", 70'000, job);
  // A reading of another job must not be counted.
  add("repeated_up_known_bytes", 9, job + 1);
  ASSERT_TRUE((*journal)->add(rows).ok());
}

TEST(Repeats, AreShownByCause) {
  Federation federation(
      {.agents = 1, .rounds = 2, .parameters = 1'000, .coordinator_settings = {}});
  federation.start_all();
  federation.expect_all_end();
  const Json none = {{"up", {{"lost", 0}, {"known", 0}, {"late", 0}, {"no_room", 0}}},
                     {"down", {{"lost", 0}, {"session", 0}}}};
  EXPECT_EQ(shown(federation)["repeated_bytes"], none);
  ASSERT_NO_FATAL_FAILURE(add_repeats(federation, shown(federation)["job"]));
  const Json repeated = shown(federation)["repeated_bytes"];
  EXPECT_EQ(repeated["up"]["known"], 5'096);
  EXPECT_EQ(repeated["up"]["late"], 0);
  EXPECT_EQ(repeated["down"]["session"], 70'000);
}

}  // namespace
}  // namespace tributary::end_to_end
