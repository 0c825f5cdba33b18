// The overview page, as a user sees it after opening a run.
#include "dashboard/pages/overview/overview_page.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QPlainTextEdit>
#include <QToolButton>
#include <algorithm>

#include "dashboard/pages/common/pages_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;

class OverviewPageTest : public PageTest<OverviewPage> {
 protected:
  QString alerts() { return page_.findChild<QPlainTextEdit*>()->toPlainText(); }
  // The accuracy alternates between 0.6 and 0.5, so the last value is not the best. The loss is 1 /
  // round.
  void write_learning(const std::string& name, std::uint64_t rounds) {
    RunWriter& run = writer(name);
    run.job();
    run.agents(true);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      run.round(round);
      run.metric(kAccuracyMetric, round, 0.5 + static_cast<double>(round % 2) / 10);
      run.metric(kLossMetric, round, 1 / static_cast<double>(round));
    }
  }
};

// Without a run the page is settled: nothing more will arrive.
TEST_F(OverviewPageTest, ExplainsHowToOpenARun) {
  show();
  EXPECT_TRUE(page_.accuracy_plot().empty());
  EXPECT_TRUE(page_.settled());
  EXPECT_EQ(alerts(), "");
}

TEST_F(OverviewPageTest, ShowsJobsAndTheirMetrics) {
  write_learning("run.db", 10);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  page_.refresh();
  context_.group().refresh_now();
  JobsPanel& jobs = page_.jobs();
  EXPECT_EQ(jobs.text_at(0, JobsPanel::job), "digits");
  EXPECT_EQ(jobs.text_at(0, JobsPanel::state), "running");
  EXPECT_EQ(jobs.text_at(0, JobsPanel::progress), "10 of 20");
  EXPECT_EQ(jobs.text_at(0, JobsPanel::agents), "1 of 2 connected");
  EXPECT_EQ(jobs.text_at(0, JobsPanel::accuracy), "50.0 %, best 60.0 %");
  EXPECT_EQ(jobs.text_at(0, JobsPanel::loss), "0.1");
  // Dense would be 4 bytes for each of 1000 parameters, 3 agents and both directions, in each
  // round; 900 bytes were sent.
  EXPECT_TRUE(jobs.text_at(0, JobsPanel::saved).contains("(96.2 %)"))
      << jobs.text_at(0, JobsPanel::saved).toStdString();
  const QString key = runs_[0]->key();
  for (PlotView* plot : {&page_.accuracy_plot(), &page_.loss_plot(), &page_.saved_plot()}) {
    EXPECT_FALSE(plot->empty());
    EXPECT_TRUE(plot->legend().shown(key));
  }
  EXPECT_EQ(page_.saved_plot().axes().x_range().high, 10);
}

// One new round of a run that is open.
TEST_F(OverviewPageTest, FollowsARunThatGrows) {
  write_learning("run.db", 3);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  writer("run.db").round(4);
  ASSERT_TRUE(happens([&] {
    page_.refresh();
    return page_.jobs().text_at(0, JobsPanel::progress) == "4 of 20";
  }));
}

// Home is no smoothing, End the strongest. The smoothed value of an alternating curve differs from
// the last one.
TEST_F(OverviewPageTest, SmoothingIsChosenByKeys) {
  write_learning("run.db", 10);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  page_.refresh();
  auto* smoothing = page_.findChild<QComboBox*>();
  smoothing->setFocus();
  QTest::keyClick(smoothing, Qt::Key_Home);
  context_.group().refresh_now();
  const QString raw = page_.accuracy_plot().legend().value_of(runs_[0]->key());
  QTest::keyClick(smoothing, Qt::Key_End);
  context_.group().refresh_now();
  EXPECT_EQ(raw, "50.0 %");
  EXPECT_NE(page_.accuracy_plot().legend().value_of(runs_[0]->key()), raw);
}

// Job 0 is no job: the agent has connected and waits for one.
TEST_F(OverviewPageTest, AnAgentIsUpBeforeItHasAJob) {
  RunWriter& run = writer("run.db");
  run.job();
  run.store(AgentRecords{
      {{.agent_id = "a", .build = "0.1.0", .device_model = "Nano", .connected = true, .job = 0}}});
  run.round(1);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  page_.refresh();
  EXPECT_EQ(page_.jobs().text_at(0, JobsPanel::agents), "1 of 2 connected");
}

// The y axes of both plots follow the button; the x axis is shared.
TEST_F(OverviewPageTest, BothAxesCanBeLogarithmic) {
  write_learning("run.db", 10);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  for (QToolButton* button : page_.findChildren<QToolButton*>()) {
    if (button->text().startsWith("Log")) QTest::mouseClick(button, Qt::LeftButton);
  }
  EXPECT_TRUE(page_.loss_plot().axes().log_y());
  EXPECT_TRUE(page_.accuracy_plot().axes().log_y());
  EXPECT_TRUE(context_.group().x_axis().is_log());
}

// A button is down only if it holds for all plots of the page.
TEST_F(OverviewPageTest, TheButtonsFollowTheKeys) {
  write_learning("run.db", 10);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  const auto is_down = [&](const QString& text) {
    const QList<QToolButton*> buttons = page_.findChildren<QToolButton*>();
    return std::ranges::any_of(buttons, [&](const QToolButton* button) {
      return button->text() == text && button->isChecked();
    });
  };
  QTest::keyClick(&page_.loss_plot(), Qt::Key_L);
  EXPECT_FALSE(is_down("Log y")) << "of two pictures one";
  QTest::keyClick(&page_.accuracy_plot(), Qt::Key_L);
  EXPECT_TRUE(is_down("Log y"));
  QTest::keyClick(&page_.loss_plot(), Qt::Key_L);
  EXPECT_FALSE(is_down("Log y"));
  EXPECT_TRUE(page_.accuracy_plot().axes().log_y()) << "its own stays";
  QTest::keyClick(&page_.loss_plot(), Qt::Key_L, Qt::ShiftModifier);
  EXPECT_TRUE(is_down("Log x"));
}

// Each of ten rounds takes a second.
TEST_F(OverviewPageTest, RoundsOrTime) {
  write_learning("run.db", 10);
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_FALSE(page_.saved_plot().empty());
  EXPECT_NEAR(page_.saved_plot().axes().x_range().high, 10, 1e-3)
      << "a second each, from the start";
}

// Colours belong to runs, so closing one must not recolour the other.
TEST_F(OverviewPageTest, ComparesTwoRuns) {
  write_learning("run.db", 10);
  write_learning("other.db", 6);
  open("run.db");
  open("other.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled(); }));
  page_.refresh();
  context_.group().refresh_now();
  EXPECT_EQ(page_.jobs().text_at(0, JobsPanel::run), "run.db");
  EXPECT_EQ(page_.jobs().text_at(1, JobsPanel::run), "other.db");
  const QImage picture = page_.grab().toImage();
  ColourSlots& colours = context_.group().colours();
  for (const auto& run : runs_) {
    const bool dark = plot_colours(page_.palette()).dark;
    EXPECT_TRUE(has_colour(picture, slot_colour(colours.slot_of(run->key()), dark), 2));
  }
  close("other.db");
  page_.refresh();
  EXPECT_EQ(colours.slot_of(runs_[0]->key()), 0u) << "whose colour stays";
}

// A journal may have several jobs; the newest is shown first.
TEST_F(OverviewPageTest, AnotherJobIsChosenByItsButton) {
  RunWriter& run = writer("run.db");
  run.job(1, "first");
  run.job(2, "second");
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] { return page_.settled() && runs_[0]->job() == 2; }));
  page_.refresh();
  EXPECT_EQ(page_.jobs().text_at(0, JobsPanel::job), "second");
  for (QToolButton* button : page_.jobs().findChildren<QToolButton*>()) {
    if (button->text() == "first") QTest::mouseClick(button, Qt::LeftButton);
  }
  EXPECT_EQ(runs_[0]->job(), 1u);
  page_.refresh();
  EXPECT_EQ(page_.jobs().text_at(0, JobsPanel::job), "first");
}

// Alerts are the warnings of the last ten minutes. The text is shown as it is and not as markup.
TEST_F(OverviewPageTest, WarnsOfRecentEvents) {
  RunWriter& run = writer("run.db");
  run.job();
  run.event("long_ago", "nobody cares");
  run.clock().advance(std::chrono::minutes(11));
  run.event("agent_gone", "no heartbeat & <b>more</b>");
  open("run.db");
  show();
  ASSERT_TRUE(happens([&] {
    page_.refresh();
    return alerts().contains("agent_gone");
  }));
  EXPECT_TRUE(alerts().contains("no heartbeat & <b>more</b>"));
  EXPECT_FALSE(alerts().contains("long_ago"));
}

// A run that cannot be read must not look like a run without rounds.
TEST_F(OverviewPageTest, TroubleIsAnAlert) {
  open("none.db");
  show();
  ASSERT_TRUE(happens([&] {
    page_.refresh();
    return alerts().contains("not_found");
  }));
  EXPECT_FALSE(page_.settled());
}

}  // namespace
}  // namespace tributary::dashboard
