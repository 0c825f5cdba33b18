// The traffic page, as a user sees it.
#include "dashboard/pages/traffic/traffic_page.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>

#include "dashboard/pages/common/pages_testing.h"

namespace tributary::dashboard {
namespace {

class TrafficPageTest : public PageTest<TrafficPage> {
 protected:
  // The uplink of agent a takes 1 µs per byte (8 Mbit/s), its downlink half of that.
  void write_traffic(const std::string& name, std::uint64_t rounds) {
    RunWriter& run = writer(name);
    run.job();
    run.agents(true);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      run.link("a", "", 0.01, 1e-6);
      run.link("", "a", 0.01, 5e-7);
      run.round(round);
    }
  }
  void wait_for_all() {
    show();
    ASSERT_TRUE(happens([&] { return page_.settled(); }));
    page_.refresh();
    context_.group().refresh_now();
  }
};

// Totals of zero would look like a measurement.
TEST_F(TrafficPageTest, ExplainsHowToOpenARun) {
  show();
  EXPECT_TRUE(page_.up_plot().empty());
  EXPECT_EQ(page_.totals(), "");
}

TEST_F(TrafficPageTest, CountsBytesAgainstDense) {
  write_traffic("run.db", 10);
  open("run.db");
  wait_for_all();
  // Each round sends 300 of 12,000 bytes up and 600 of 12,000 bytes down.
  EXPECT_EQ(page_.totals().toStdString(),
            "Up <b>3.00 kB</b> of 120 kB dense (2.50 %), down <b>6.00 kB</b> of 120 kB dense "
            "(5.00 %) in 10 rounds");
  const QString key = runs_[0]->key();
  EXPECT_EQ(page_.up_plot().legend().value_of(key), "300 B");
  EXPECT_EQ(page_.up_plot().legend().value_of(key + " dense"), "12.0 kB");
  EXPECT_EQ(page_.down_plot().legend().value_of(key), "600 B");
  EXPECT_EQ(context_.group().colours().slot_of("another agent"), 3u)
      << "slots belong to the run and its two agents, not to the dense curve";
}

// The reports of the writer have 150 bytes up and none down.
TEST_F(TrafficPageTest, ShowsAgentsAndWaysUpOrDown) {
  write_traffic("run.db", 10);
  open("run.db");
  wait_for_all();
  EXPECT_EQ(page_.agents_plot().legend().value_of("a"), "150 B");
  EXPECT_EQ(page_.agents_plot().legend().value_of("b"), "150 B");
  EXPECT_EQ(page_.links_plot().legend().value_of("a"), "8.00 Mbit/s")
      << "a byte takes a microsecond";
  auto* direction = page_.findChild<QComboBox*>();
  direction->setFocus();
  QTest::keyClick(direction, Qt::Key_Down);
  context_.group().refresh_now();
  EXPECT_EQ(page_.agents_plot().legend().value_of("a"), "0 B");
  EXPECT_EQ(page_.links_plot().legend().value_of("a"), "16.0 Mbit/s");
}

// Only the x axis changes.
TEST_F(TrafficPageTest, OverRoundsAndTimeAreTheSameSamples) {
  write_traffic("run.db", 10);
  open("run.db");
  wait_for_all();
  EXPECT_EQ(page_.agents_plot().axes().x_range().high, 10);
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_NEAR(page_.agents_plot().axes().x_range().high, 10, 1e-3) << "a second each";
  EXPECT_FALSE(page_.agents_plot().empty());
  EXPECT_FALSE(page_.links_plot().empty());
}

// The charts of agents show one run only, and their heading says which.
TEST_F(TrafficPageTest, ComparesTwoRuns) {
  write_traffic("run.db", 10);
  write_traffic("other.db", 5);
  open("run.db");
  open("other.db");
  wait_for_all();
  EXPECT_TRUE(page_.totals().contains("other.db: Up <b>1.50 kB</b>"))
      << page_.totals().toStdString();
  EXPECT_TRUE(page_.up_plot().legend().shown(runs_[1]->key()));
  EXPECT_FALSE(page_.up_plot().legend().rect_of(runs_[1]->key()).isEmpty());
  const auto labels = page_.findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
    return label->text().contains("Agents and links of run.db");
  })) << "whose agents they are";
}

// Areas are stacked: the top of "control" is at 3600 bytes, while its own value is 100.
TEST_F(TrafficPageTest, StacksMessagesByTheirUse) {
  RunWriter& run = writer("run.db");
  run.job();
  for (std::uint64_t round = 1; round <= 6; ++round) {
    run.round(round);
    run.metric("up_updates_bytes", round, 3000);
    if (round % 2 == 0) run.metric("up_models_bytes", round, 500);
    run.metric("up_control_bytes", round, 100);
    run.metric("down_aggregates_bytes", round, 2000);
  }
  open("run.db");
  wait_for_all();
  PlotView& up = page_.uses_plot(true);
  const QString updates = MessageStack::key_of(MessageUse::updates);
  const QString models = MessageStack::key_of(MessageUse::models);
  const QString control = MessageStack::key_of(MessageUse::control);
  EXPECT_EQ(up.legend().value_of(updates), "3.00 kB");
  EXPECT_EQ(up.legend().value_of(models), "500 B") << "its own, not where it is drawn";
  EXPECT_EQ(up.legend().value_of(control), "100 B");
  EXPECT_GE(up.axes().y_range().high, 3600) << "one stands on the other";
  context_.group().point_at(3);
  context_.group().refresh_now();
  EXPECT_EQ(up.legend().value_of(models), "0 B") << "none in this round";
  const auto values = up.crosshair_values();
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values.back().sample.y, 3100);
  EXPECT_EQ(values.back().displayed, 100);

  up.legend().toggle(updates);
  context_.group().refresh_now();
  EXPECT_EQ(up.crosshair_values().back().sample.y, 100) << "what is hidden carries nothing";
  EXPECT_LT(up.axes().y_range().high, 1000);
  EXPECT_FALSE(page_.uses_plot(false).empty());
}

// Journals of earlier releases have no such readings.
TEST_F(TrafficPageTest, ARunWithoutMessageUsesIsReported) {
  write_traffic("run.db", 3);
  open("run.db");
  wait_for_all();
  EXPECT_TRUE(page_.uses_plot(true).empty());
  EXPECT_FALSE(page_.up_plot().empty());
}

// A use that appears for the first time gets its own area.
TEST_F(TrafficPageTest, UsesFollowARunningRun) {
  RunWriter& run = writer("run.db");
  run.job();
  run.round(1);
  run.metric("up_updates_bytes", 1, 3000);
  open("run.db");
  wait_for_all();
  run.round(2);
  run.metric("up_updates_bytes", 2, 1000);
  run.metric("up_probes_bytes", 2, 24);
  PlotView& up = page_.uses_plot(true);
  ASSERT_TRUE(happens([&] {
    page_.refresh();
    context_.group().refresh_now();
    return up.legend().value_of(MessageStack::key_of(MessageUse::probes)) == "24 B" &&
           up.legend().value_of(MessageStack::key_of(MessageUse::updates)) == "1.00 kB";
  }));
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_EQ(up.legend().value_of(MessageStack::key_of(MessageUse::probes)), "24 B");
}

}  // namespace
}  // namespace tributary::dashboard
