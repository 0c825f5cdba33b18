// Tests of the readings that the coordinator derives from agents' reports and from its own
// counters.
#include "core/round/coordinator/job/round_reporter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/round/common/plan/mechanisms.h"
#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::JobTest;
using round_testing::kSmallJob;
using round_testing::Packed;
using round_testing::wire_id_of;

// The reporter of a job with two members.
class RoundReporterTest : public JobTest {
 protected:
  RoundReporterTest() { open_epoch(2); }

  static wire::ReportT report_on(std::uint64_t round) {
    wire::ReportT report;
    report.id = wire_id_of({.job = kSmallJob, .round = round, .epoch = 1, .attempt = 0});
    return report;
  }
  static wire::ReportT with_curve(std::vector<float> ratios, std::vector<float> gains) {
    wire::ReportT report = report_on(1);
    report.gain = std::make_unique<wire::GainCurveT>();
    report.gain->ratios = std::move(ratios);
    report.gain->gains = std::move(gains);
    return report;
  }
  double gain_of(const wire::ReportT& report, std::optional<double> ratio) {
    reporter_.keep(member(0), *Packed(report), ratio);
    return reporter_.reports().back().gain;
  }
  void measure(wire::ReportT& report, const std::string& name, double value) {
    report.metrics.push_back(std::make_unique<wire::MeasureT>());
    report.metrics.back()->name = name;
    report.metrics.back()->value = value;
  }
  std::vector<Reading> readings(ReadingKind kind) const {
    std::vector<Reading> found;
    for (const Reading& one : actions<Reading>()) {
      if (one.kind == kind) found.push_back(one);
    }
    return found;
  }

  RoundReporter reporter_{job_};
};

// --- reports ---

TEST_F(RoundReporterTest, AReportIsKeptForTheCommit) {
  wire::ReportT report = report_on(3);
  report.loss = 0.5;
  report.examples = 12;
  report.bytes_up = 77;
  report.mechanisms = std::make_unique<wire::MechanismsT>();
  report.mechanisms->values_encoded = 5;
  for (int i = 0; i < 2; ++i) report.trials.push_back(std::make_unique<wire::TrialT>());
  reporter_.keep(member(1), *Packed(report), 1);
  ASSERT_EQ(reporter_.reports().size(), 1u);
  const AgentRoundRecord& kept = reporter_.reports()[0];
  EXPECT_EQ(kept.id.round, 3u);
  EXPECT_EQ(kept.agent_id, "agent-001");
  EXPECT_EQ(kept.loss, 0.5);
  EXPECT_EQ(kept.examples, 12u);
  EXPECT_EQ(kept.bytes_up, 77u);
  ASSERT_NE(kept.mechanisms, nullptr);
  EXPECT_EQ(*kept.mechanisms, *pack_mechanisms(*report.mechanisms));
  EXPECT_EQ(reporter_.take_trials(), 2u);
  EXPECT_EQ(reporter_.take_trials(), 0u) << "they are counted once";
}

TEST_F(RoundReporterTest, NoMoreThan4096ReportsAreKept) {
  const Packed report(report_on(1));
  for (int i = 0; i < 4'100; ++i) reporter_.keep(member(0), *report, 1);
  EXPECT_EQ(reporter_.reports().size(), 4'096u);
}

TEST_F(RoundReporterTest, TheGainGrowsWithTheLogarithmOfTheRatio) {
  const wire::ReportT report = with_curve({0.01f, 0.1f}, {0.4f, 0.8f});
  EXPECT_NEAR(gain_of(report, 0.01), 0.4, 1e-6);
  EXPECT_NEAR(gain_of(report, std::sqrt(0.001)), 0.6, 1e-6);
  EXPECT_NEAR(gain_of(report, 0.1), 0.8, 1e-6);
}

TEST_F(RoundReporterTest, OutsideTheCurveTheGainFallsToZeroOrGrowsToOne) {
  const wire::ReportT report = with_curve({0.01f, 0.1f}, {0.4f, 0.8f});
  EXPECT_NEAR(gain_of(report, 0.001), 0.04, 1e-6);
  EXPECT_NEAR(gain_of(report, std::sqrt(0.1)), 0.9, 1e-6);
}

TEST_F(RoundReporterTest, TheGainIsUnknownWithoutACurveOrARatioBelowOne) {
  const wire::ReportT report = with_curve({0.01f, 0.1f}, {0.4f, 0.8f});
  EXPECT_TRUE(std::isnan(gain_of(report, std::nullopt)));
  EXPECT_TRUE(std::isnan(gain_of(report, 1)));
  EXPECT_TRUE(std::isnan(gain_of(report_on(1), 0.1)));
  EXPECT_TRUE(std::isnan(gain_of(with_curve({0.1f}, {0.4f, 0.8f}), 0.1)));
  EXPECT_TRUE(std::isnan(gain_of(with_curve({0.1f, 0.2f}, {0.8f, 0.4f}), 0.1))) << "it falls";
}

TEST_F(RoundReporterTest, ARatioIsTheMembersOwnOrTheCodecs) {
  policy().codec = "topk:cr=0.1";
  const auto ratios = [](PlanRequest& request) { request.ratios = {0.1, 0.02}; };
  EXPECT_EQ(ratio_of(*make_plan(1, ratios), 1, coordinator_.cache), 0.02);
  EXPECT_EQ(ratio_of(*make_plan(1), 1, coordinator_.cache), 0.1);
  policy().codec = "fp32";
  EXPECT_EQ(ratio_of(*make_plan(1), 1, coordinator_.cache), 1);
}

// --- metrics ---

TEST_F(RoundReporterTest, MetricsAreOfTheModelThatTheRoundBeganWith) {
  wire::ReportT report = report_on(4);
  measure(report, "evaluation_loss", 0.25);
  reporter_.read_metrics(member(0), *Packed(report));
  const auto rates = readings(ReadingKind::evaluation_loss);
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_EQ(rates[0].value, 0.25);
  EXPECT_EQ(rates[0].round, 3u);
  EXPECT_EQ(rates[0].agent_id, "agent-000");
}

TEST_F(RoundReporterTest, MetricsWithUnknownNamesAreSkipped) {
  wire::ReportT report = report_on(4);
  measure(report, "made_up", 1);
  measure(report, "evaluation_accuracy", 0.75);
  reporter_.read_metrics(member(0), *Packed(report));
  ASSERT_EQ(actions<Reading>().size(), 1u);
  EXPECT_EQ(actions<Reading>()[0].kind, ReadingKind::evaluation_accuracy);
}

TEST_F(RoundReporterTest, AReportWithoutMetricsHasNoReadings) {
  reporter_.read_metrics(member(0), *Packed(report_on(4)));
  EXPECT_TRUE(actions<Reading>().empty());
}

// --- rounds ---

TEST_F(RoundReporterTest, ACommitReportsTheDurationOfItsRound) {
  RoundRecord record;
  record.id.round = 6;
  record.began_at_ns = coordinator_.now;
  coordinator_.now += 2'500 * kNsPerMs;
  reporter_.report_commit(record, *begin_round(membership_, coordinator_.now, make_plan(6)));
  ASSERT_EQ(readings(ReadingKind::round_s).size(), 1u);
  EXPECT_EQ(readings(ReadingKind::round_s)[0].value, 2.5);
  EXPECT_EQ(readings(ReadingKind::round_s)[0].round, 6u);
}

// The reported rate of an uplink after a committed round.
class UplinkReadingTest : public RoundReporterTest {
 protected:
  // Member 1 sends this many bytes within two seconds after its first part.
  void report_round(std::uint64_t bytes) {
    const auto round = begin_round(membership_, coordinator_.now, make_plan(1));
    round->members()[1].first_part_at_ns = coordinator_.now;
    round->members()[1].last_part_at_ns = coordinator_.now + 2'000 * kNsPerMs;
    round->members()[1].bytes_after_first = bytes;
    reporter_.report_commit({}, *round);
  }
};

TEST_F(UplinkReadingTest, TheRateOfAnUplinkIsThatOfTheBytesBehindTheFirstPart) {
  report_round(100'000);
  const auto rates = readings(ReadingKind::uplink_s_per_byte);
  ASSERT_EQ(rates.size(), 1u) << "nothing is known of the other member";
  EXPECT_EQ(rates[0].agent_id, "agent-001");
  EXPECT_NEAR(rates[0].value, 2e-5, 1e-12);
}

TEST_F(UplinkReadingTest, TheRateOfAFewBytesHasANameOfItsOwn) {
  report_round(1'000);
  EXPECT_EQ(readings(ReadingKind::uplink_s_per_byte_of_few).size(), 1u);
  EXPECT_TRUE(readings(ReadingKind::uplink_s_per_byte).empty());
}

TEST_F(UplinkReadingTest, ByPeersTheRateIsABound) {
  policy().collective = wire::Collective::ring;
  report_round(100'000);
  EXPECT_EQ(readings(ReadingKind::uplink_s_per_byte_at_most).size(), 1u);
}

TEST_F(UplinkReadingTest, AFewBytesAreNoBound) {
  policy().collective = wire::Collective::ring;
  report_round(1'000);
  EXPECT_TRUE(readings(ReadingKind::uplink_s_per_byte_at_most).empty());
  EXPECT_TRUE(readings(ReadingKind::uplink_s_per_byte_of_few).empty());
}

// The reported rate of a downlink: the coordinator sends a payload to member 1, which acknowledges
// its parts one by one, each after the same time.
class DownlinkReadingTest : public RoundReporterTest {
 protected:
  // Returns the number of parts.
  std::uint64_t send(std::uint64_t bytes, TimeNs part_ns) {
    BulkSender& bulk = member(1).conversation.bulk();
    bulk.window().round_trip(coordinator_.now, 10 * kNsPerMs);
    bulk.add({.id = {.transfer = 1},
              .bytes = bytes,
              .slice = slices_of(std::make_shared<const Bytes>(bytes)),
              .frame = [](std::uint64_t, const PayloadSlice&) {
                return frame_with(wire::TransferPartT());
              }});
    const std::uint64_t before = bulk.last_number();
    std::uint64_t acknowledged = before;
    do {
      bulk.pump(coordinator_.now, 0,
                [](std::uint64_t, const wire::FrameT&, const PayloadSlice*) {});
      coordinator_.now += part_ns;
      bulk.acknowledged(coordinator_.now, ++acknowledged);
    } while (!bulk.idle());
    reporter_.report_commit({}, *begin_round(membership_, coordinator_.now, make_plan(1)));
    return acknowledged - before;
  }
};

TEST_F(DownlinkReadingTest, TheRateOfADownlinkFollowsFromAcknowledgements) {
  const std::uint64_t parts = send(100'000, 200 * kNsPerMs);
  const auto rates = readings(ReadingKind::downlink_s_per_byte);
  EXPECT_EQ(reporter_.downlinks().size(), 1u);
  ASSERT_EQ(rates.size(), 1u) << "nothing was sent to the other member";
  EXPECT_EQ(rates[0].agent_id, "agent-001");
  EXPECT_NEAR(rates[0].value, (0.2 * static_cast<double>(parts) - 0.01) / 100'000, 1e-6);
  forget_actions();
  reporter_.report_commit({}, *begin_round(membership_, coordinator_.now, make_plan(2)));
  EXPECT_TRUE(readings(ReadingKind::downlink_s_per_byte).empty()) << "it is reported once";
  EXPECT_TRUE(reporter_.downlinks().empty());
}

TEST_F(DownlinkReadingTest, FewBytesAndBoundsHaveNamesOfTheirOwn) {
  send(20'000, 100 * kNsPerMs);
  EXPECT_EQ(readings(ReadingKind::downlink_s_per_byte_of_few).size(), 1u);
  send(100'000, 1 * kNsPerMs);
  EXPECT_EQ(readings(ReadingKind::downlink_s_per_byte_at_most).size(), 1u);
  EXPECT_TRUE(readings(ReadingKind::downlink_s_per_byte).empty());
}

// --- bytes ---

TEST_F(RoundReporterTest, BytesOfAllSessionsAreReportedOnce) {
  member(0).received.add(wire::Message::Update, 100);
  member(1).received.add(wire::Message::Update, 30);
  reporter_.repeats().late_up = 5;
  reporter_.report_bytes(1);
  ASSERT_EQ(readings(ReadingKind::up_updates_bytes).size(), 1u);
  EXPECT_EQ(readings(ReadingKind::up_updates_bytes)[0].value, 130);
  EXPECT_EQ(readings(ReadingKind::repeated_up_late_bytes)[0].value, 5);
  forget_actions();
  reporter_.report_bytes(2);
  EXPECT_TRUE(actions<Reading>().empty());
}

TEST_F(RoundReporterTest, BytesOfAnEndedSessionAreReported) {
  member(0).received.add(wire::Message::Report, 40);
  reporter_.count(member(0));
  coordinator_.roster.remove(member(0).conversation.session());
  reporter_.report_bytes(1);
  ASSERT_EQ(readings(ReadingKind::up_reports_bytes).size(), 1u);
  EXPECT_EQ(readings(ReadingKind::up_reports_bytes)[0].value, 40);
}

TEST_F(RoundReporterTest, BytesOfAnAgentOfAnotherJobAreNotReported) {
  member(0).run = kSmallJob + 1;
  member(0).received.add(wire::Message::Report, 40);
  reporter_.report_bytes(1);
  EXPECT_TRUE(actions<Reading>().empty());
}

TEST_F(RoundReporterTest, SentBytesAreReported) {
  membership_.announce(0);
  const std::size_t bytes = actions<Send>()[0].frame.size() + actions<Send>()[1].frame.size();
  reporter_.report_bytes(1);
  ASSERT_EQ(readings(ReadingKind::down_plans_bytes).size(), 1u);
  EXPECT_EQ(readings(ReadingKind::down_plans_bytes)[0].value, static_cast<double>(bytes));
}

}  // namespace
}  // namespace tributary
