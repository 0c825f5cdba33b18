// Tests of the agents of a round as a Gantt chart, with its facts and events.
#include "dashboard/pages/round/round_rows.h"

#include <gmock/gmock.h>

#include <deque>

#include "dashboard/pages/round/round_facts.h"

namespace tributary::dashboard {
namespace {

using testing::ElementsAre;

// An agent that trains for compute_s, encodes for 100 ms and waits for 500 ms.
AgentInRound agent_of(const std::string& id, double compute_s,
                      AgentPart part = AgentPart::contributed) {
  return {.agent_id = id,
          .part = part,
          .buckets = 1,
          .reported = true,
          .compute_s = compute_s,
          .encode_s = 0.1,
          .wait_s = 0.5};
}

// A round of 2 s with two buckets, both counted.
RoundDetail round_of(std::vector<AgentInRound> agents) {
  RoundDetail detail;
  detail.seconds = 2;
  detail.buckets = detail.buckets_counted = 2;
  detail.members = static_cast<std::uint32_t>(agents.size());
  detail.agents = std::move(agents);
  return detail;
}

// The names of the rows from top to bottom; "! " marks a row in the colour of trouble.
std::vector<std::string> names(const RoundRows& rows) {
  std::vector<std::string> out;
  for (const GanttRow& row : rows.rows)
    out.push_back((row.late ? "! " : "") + row.name.toStdString());
  return out;
}

// The row that explains a slow round is at the top. An agent that was not asked explains nothing,
// so it is last.
TEST(RoundRowsTest, AgentsWithoutAReportComeFirstThenTheSlowest) {
  AgentInRound silent = agent_of("silent", 0, AgentPart::left_out);
  silent.reported = false;
  AgentInRound idle = agent_of("idle", 0, AgentPart::not_asked);
  idle.reported = false;
  const RoundDetail detail =
      round_of({idle, agent_of("quick", 1), agent_of("slow", 3), agent_of("middle", 1.1), silent,
                agent_of("half", 1.05, AgentPart::partly)});
  EXPECT_THAT(names(round_rows(detail, 10)),
              ElementsAre("! silent, left out", "! slow, slow", "middle",
                          "! half, in 1 of 2 buckets", "quick", "idle, not asked"));
}

// Training to 1 s, encoding to 1.1 s, waiting to 1.6 s.
TEST(RoundRowsTest, SpansFollowOneAnother) {
  const RoundRows rows = round_rows(round_of({agent_of("a", 1)}), 10);
  const std::vector<Stretch>& spans = rows.rows[0].spans;
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].colour_key, "compute");
  EXPECT_EQ(spans[0].x_high, 1);
  EXPECT_EQ(spans[1].x_low, 1);
  EXPECT_EQ(spans[2].colour_key, "wait");
  EXPECT_NEAR(spans[2].x_high, 1.6, 1e-12);
  EXPECT_EQ(spans[2].label, "500 ms");
}

// Its times are unknown, which a single span with a label says.
TEST(RoundRowsTest, AnAgentWithoutAReportSpansTheWholeRound) {
  AgentInRound silent = agent_of("silent", 0, AgentPart::left_out);
  silent.reported = false;
  const RoundRows rows = round_rows(round_of({silent}), 10);
  ASSERT_EQ(rows.rows[0].spans.size(), 1u);
  EXPECT_EQ(rows.rows[0].spans[0].x_high, 2);
  EXPECT_EQ(rows.rows[0].spans[0].label, "no report");
}

// 40 rows can be read on a screen; the note says that the chart is not complete.
TEST(RoundRowsTest, AThousandAgentsAreReducedToTheSlowestWithANote) {
  std::vector<AgentInRound> agents;
  for (int i = 0; i < 1000; ++i) agents.push_back(agent_of(std::to_string(i), 1 + i / 1000.0));
  const RoundRows rows = round_rows(round_of(std::move(agents)), 40);
  ASSERT_EQ(rows.rows.size(), 40u);
  EXPECT_EQ(rows.rows[0].name, "999");
  EXPECT_EQ(rows.agents[39], 960u);
  EXPECT_EQ(rows.note, "The 40 slowest of 1,000 agents; the table has all.");
}

// A deadline far beyond the round would shrink all rows if the axis had to show it.
TEST(RoundRowsTest, TheDeadlineIsMarkedWhereItLies) {
  RoundDetail detail = round_of({agent_of("a", 1)});
  detail.deadline_ms = 500;
  const RoundRows rows = round_rows(detail, 10);
  EXPECT_THAT(rows.rows[0].marks, ElementsAre(0.5));
  EXPECT_EQ(rows.note, "The vertical line is the deadline (500 ms).");
  detail.deadline_ms = 60'000;
  EXPECT_EQ(round_rows(detail, 10).note, "") << "nobody sees it";
}

// Times come from agents, so NaN, negative numbers and infinity are possible.
TEST(RoundRowsTest, NumbersThatAreNoneCountForNothing) {
  AgentInRound odd = agent_of("odd", std::nan(""));
  odd.encode_s = -1;
  odd.wait_s = std::numeric_limits<double>::infinity();
  EXPECT_EQ(busy_seconds(odd), 0);
  EXPECT_TRUE(round_rows(round_of({odd}), 10).rows[0].spans.empty());
}

// The value of one fact of the round, with a predicted duration of 1.5 s; "none" if the fact is
// missing.
std::string fact_of(const RoundDetail& detail, const QString& name) {
  for (const Fact& one : round_facts(detail, 1.5)) {
    if (one.name == name) return one.value.toStdString();
  }
  return "none";
}

// Facts of the plan are missing while the plan is unreadable, and appear with it.
TEST(RoundFactsTest, DescribeTheRound) {
  RoundDetail detail = round_of({agent_of("a", 1), agent_of("b", 1, AgentPart::left_out)});
  detail.attempt = 2;
  detail.model_hash = 0xab;
  EXPECT_EQ(fact_of(detail, "Took"), "2 s, predicted 1.50 s");
  EXPECT_EQ(fact_of(detail, "Agents"), "1 of 2, 1 left out");
  EXPECT_EQ(fact_of(detail, "Attempt"), "succeeded after 2 failed");
  EXPECT_EQ(fact_of(detail, "Model after"), "00000000000000ab");
  EXPECT_EQ(fact_of(detail, "Plan"), "not readable by this build");
  EXPECT_EQ(fact_of(detail, "Quorum"), "none");
  detail.planned = true;
  detail.quorum = 2;
  detail.exchanges.push_back({.codec = "topk:cr=0.1",
                              .collective = "ring",
                              .fallback = "star",
                              .ratio = 0.1,
                              .buckets = 2});
  EXPECT_EQ(fact_of(detail, "Quorum"), "2 of 2");
  EXPECT_EQ(fact_of(detail, "Exchange"),
            "topk:cr=0.1 by ring, ratio 0.1, 2 buckets, falls back to star");
  EXPECT_EQ(fact_of(detail, "Deadline"), "none");
}

// A mechanism of all agents is one line with its least and greatest number.
TEST(RoundFactsTest, ListTheMechanismsThatWereInForce) {
  RoundDetail detail = round_of({agent_of("a", 1), agent_of("b", 1)});
  EXPECT_EQ(fact_of(detail, "Mechanisms"), "none") << "an older file has no facts";
  detail.mechanisms = {{.name = "left_out", .of = "c", .value = 3},
                       {.name = "fallbacks", .of = "", .value = 0}};
  detail.agents[0].mechanisms = {{.name = "buckets_by_codec", .of = "thc:bits=4", .value = 2},
                                 {.name = "mantissa_bits_dropped", .of = "", .value = 12}};
  detail.agents[1].mechanisms = {{.name = "buckets_by_codec", .of = "thc:bits=4", .value = 2},
                                 {.name = "mantissa_bits_dropped", .of = "", .value = 18}};
  EXPECT_EQ(fact_of(detail, "Mechanisms"), "");
  EXPECT_EQ(fact_of(detail, "left out · c"), "3");
  EXPECT_EQ(fact_of(detail, "fallbacks"), "none") << "what did not happen is not shown";
  EXPECT_EQ(fact_of(detail, "buckets by codec · thc:bits=4"), "2 per agent");
  EXPECT_EQ(fact_of(detail, "mantissa bits dropped"), "12 to 18 per agent");
}

// An event of job 1 in round 7.
EventRow event_of(double at_s, const std::string& name, const std::string& source = "") {
  return {
      .time_s = at_s, .name = name, .reason = "deadline", .source = source, .job = 1, .round = 7};
}

// Times count from the beginning of the attempt that succeeded, at second 100, so earlier ones are
// negative.
TEST(RoundMomentsTest, ListTheFaultsOfTheRoundInOrder) {
  std::deque<EventRow> events = {event_of(100.5, "agent_withdrew", "slow"),
                                 event_of(99.5, "round_aborted"), event_of(101, "round_published"),
                                 event_of(100, "round_aborted")};
  events.back().round = 8;
  events.push_back(event_of(100, "round_aborted"));
  events.back().job = 2;
  const std::vector<RoundMoment> moments = moments_of(events, 1, 7, 100);
  ASSERT_EQ(moments.size(), 2u) << "of this round of this job, and by names that are known";
  EXPECT_EQ(moments[0].at_s, -0.5);
  EXPECT_TRUE(moments[0].agent_id.empty());
  EXPECT_EQ(moments[0].text.toStdString(), "attempt aborted, the next one starts (deadline)");
  EXPECT_EQ(moments[1].at_s, 0.5);
  EXPECT_EQ(moments[1].agent_id, "slow");
}

// A hostile agent can cause an event per message.
TEST(RoundMomentsTest, AreBounded) {
  const std::deque<EventRow> events(1000, event_of(100, "payload_refused", "a"));
  EXPECT_EQ(moments_of(events, 1, 7, 100).size(), kRoundMomentsMax);
}

// A moment without an agent concerns all rows. One that is 500 s older than the round would stretch
// the axis.
TEST(RoundRowsTest, MomentsStandInTheRowsThatTheyAreAbout) {
  const std::vector<RoundMoment> moments = {
      {-0.5, "", "given up"}, {0.3, "b", "withdrew"}, {-500, "", "given up before"}};
  const RoundRows rows = round_rows(round_of({agent_of("a", 2), agent_of("b", 1)}), 10, moments);
  ASSERT_EQ(rows.rows.size(), 2u);
  ASSERT_EQ(rows.rows[0].moments.size(), 1u) << "too long ago to be drawn";
  EXPECT_EQ(rows.rows[0].moments[0].x, -0.5);
  ASSERT_EQ(rows.rows[1].moments.size(), 2u);
  EXPECT_EQ(rows.rows[1].moments[1].text, "withdrew");
  EXPECT_TRUE(
      rows.note.contains("▼ 500 ms before this attempt: given up; after 300 ms: b withdrew"))
      << rows.note.toStdString();
}

}  // namespace
}  // namespace tributary::dashboard
