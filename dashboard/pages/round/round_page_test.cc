// User actions on the page of one round, with runs written by a journal.
#include "dashboard/pages/round/round_page.h"

#include <QAbstractItemModelTester>
#include <QFile>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>

#include "dashboard/pages/common/run_page_testing.h"
#include "dashboard/pages/plan/inputs_model.h"
#include "dashboard/pages/round/layer_bits_view.h"

namespace tributary::dashboard {
namespace {

using run_testing::RunWriter;

// In round 2 agent c is left out. Agents a and b report; c never does.
class RoundPageTest : public PageOfRunTest {
 protected:
  void open_page(RunWriter& writer, std::uint64_t rounds) {
    writer.job();
    for (std::uint64_t round = 1; round <= rounds; ++round) writer.round(round, {}, round == 2);
    open_run();
    page_ = std::make_unique<RoundPage>(context_);
    show(*page_);
  }
  std::uint64_t shown() { return page_->detail() ? page_->detail()->round : 0; }
  void key(Qt::Key which) {
    QTest::keyClick(&page_->picture(), which, Qt::AltModifier);
    settle(*page_);
  }
  // The rows of the chart from top to bottom; "! " marks an agent that was left out.
  std::vector<std::string> rows() {
    std::vector<std::string> names;
    for (const GanttRow& row : page_->rows().rows) {
      names.push_back((row.late ? "! " : "") + row.name.toStdString());
    }
    return names;
  }

  std::unique_ptr<RoundPage> page_;
};

// The button "newest" leads back to following.
TEST_F(RoundPageTest, FollowsTheNewestRoundUntilOneIsChosen) {
  RunWriter writer(run_db());
  open_page(writer, 3);
  EXPECT_EQ(shown(), 3u);
  writer.round(4);
  ASSERT_TRUE(happens([&] { return shown() == 4; }));
  page_->show_round(1);
  settle(*page_);
  writer.round(5);
  ASSERT_TRUE(happens([&] { return run_->view().rounds(run_->job())->size() == 5; }));
  QTest::qWait(50);
  EXPECT_EQ(shown(), 1u);
  QTest::mouseClick(page_->findChild<QPushButton*>("newest"), Qt::LeftButton);
  settle(*page_);
  EXPECT_EQ(shown(), 5u);
  EXPECT_TRUE(page_->follows_newest());
}

// Alt+Left, Alt+Right and Alt+End, as in a browser's history.
TEST_F(RoundPageTest, KeysLeadToThePreviousTheNextAndTheNewest) {
  RunWriter writer(run_db());
  open_page(writer, 4);
  page_->activateWindow();
  page_->picture().setFocus();
  key(Qt::Key_Left);
  EXPECT_EQ(shown(), 3u);
  key(Qt::Key_Left);
  EXPECT_EQ(shown(), 2u);
  key(Qt::Key_Right);
  EXPECT_EQ(shown(), 3u);
  for (int i = 0; i < 5; ++i) key(Qt::Key_Left);
  EXPECT_EQ(shown(), 1u) << "before the first there is none";
  key(Qt::Key_End);
  EXPECT_EQ(shown(), 4u);
  EXPECT_TRUE(page_->follows_newest());
}

// Round 99 does not exist: the page shows nothing rather than the previous round.
TEST_F(RoundPageTest, ARoundIsChosenByItsNumber) {
  RunWriter writer(run_db());
  open_page(writer, 4);
  auto* const number = page_->findChild<QSpinBox*>();
  EXPECT_EQ(number->value(), 4);
  number->setFocus();
  number->selectAll();
  QTest::keyClicks(number, "2");
  QTest::keyClick(number, Qt::Key_Return);
  settle(*page_);
  EXPECT_EQ(shown(), 2u);
  number->selectAll();
  QTest::keyClicks(number, "99");
  QTest::keyClick(number, Qt::Key_Return);
  settle(*page_);
  EXPECT_FALSE(page_->detail());
  EXPECT_TRUE(page_->picture().empty());
  EXPECT_EQ(page_->table().proxy().rowCount(), 0);
}

// The agent without a report is in the first row, because nothing is known of its time.
TEST_F(RoundPageTest, ExcludedAgentsAreMarked) {
  RunWriter writer(run_db());
  open_page(writer, 3);
  EXPECT_EQ(rows(), (std::vector<std::string>{"c", "a", "b"})) << "it contributed without a report";
  page_->show_round(2);
  settle(*page_);
  EXPECT_EQ(rows(), (std::vector<std::string>{"! c, left out", "a", "b"}));
  EXPECT_EQ(page_->rows().rows[0].spans[0].label, "no report");
  EXPECT_EQ(page_->rows().note, "The vertical line is the deadline (500 ms).");
}

TEST_F(RoundPageTest, ShowsTheBitsByLayer) {
  RunWriter writer(run_db());
  open_page(writer, 1);
  const auto* const picture = page_->findChild<LayerBitsView*>();
  ASSERT_NE(picture, nullptr);
  EXPECT_TRUE(picture->isVisible());
  ASSERT_EQ(picture->layers().size(), 2u);
  EXPECT_EQ(picture->text_of_layer(0), "conv: 2.5 bits");
  EXPECT_EQ(picture->text_of_layer(1), "fc: 0 bits");
  page_->show_round(99);
  settle(*page_);
  EXPECT_FALSE(picture->isVisible()) << "there is no such round";
}

// Enter then asks for the page of this agent.
TEST_F(RoundPageTest, AClickOnARowSelectsItsAgentInTheTable) {
  RunWriter writer(run_db());
  open_page(writer, 1);
  page_->picture().group().refresh_now();
  click(page_->picture(), 0.1, 0.5);  // the middle one of three rows
  const int row = page_->table().current_row();
  ASSERT_GE(row, 0);
  EXPECT_EQ(page_->detail()->agents[static_cast<std::size_t>(row)].agent_id, "a");
  QSignalSpy requested(page_.get(), &Page::agent_requested);
  QTest::keyClick(&page_->table(), Qt::Key_Return);
  ASSERT_EQ(requested.count(), 1);
  EXPECT_EQ(requested[0][0].toString(), "a");
}

// A new round would replace the picture that the user examines.
TEST_F(RoundPageTest, AZoomHoldsTheRoundAndTheWayBackLeavesIt) {
  RunWriter writer(run_db());
  open_page(writer, 2);
  page_->picture().group().refresh_now();
  page_->picture().axes().zoom_to({0.1, 0.2}, std::nullopt);
  writer.round(3);
  ASSERT_TRUE(happens([&] { return run_->view().rounds(run_->job())->size() == 3; }));
  QTest::qWait(50);
  EXPECT_EQ(shown(), 2u) << "somebody looks at it closely";
  page_->choose(std::nullopt);
  settle(*page_);
  EXPECT_EQ(shown(), 3u);
  page_->picture().group().refresh_now();
  EXPECT_GT(page_->picture().axes().x_range().high, 0.5);
}

// One line of headings and three agents. A cell with a comma is quoted.
TEST_F(RoundPageTest, TheTableIsSavedAsItStands) {
  RunWriter writer(run_db());
  open_page(writer, 1);
  const QString file = QString::fromStdString(folder_ / "agents.csv");
  ASSERT_EQ(page_->table().export_csv(file).text(), "ok");
  QFile written(file);
  ASSERT_TRUE(written.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(written.readAll());
  EXPECT_EQ(text.count("\r\n"), 4) << text.toStdString();
  EXPECT_TRUE(text.contains("\"in the result, no report\""));
}

// Reports are rows of their own, so they are readable without the plan.
TEST_F(RoundPageTest, APlanOfANewerBuildIsReportedAndTheReportsAreShown) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1);
  ASSERT_EQ(writer.journal().database().execute("UPDATE plans SET frame = x'0102'").text(), "ok");
  open_run();
  page_ = std::make_unique<RoundPage>(context_);
  show(*page_);
  EXPECT_TRUE(page_->message().contains("cannot read the round's plan"));
  EXPECT_EQ(rows().size(), 3u);
}

// Keys must not fail before there is a round.
TEST_F(RoundPageTest, EmptyStatesNameTheNextStep) {
  page_ = std::make_unique<RoundPage>(context_);
  page_->show();
  EXPECT_TRUE(page_->picture().empty());
  EXPECT_FALSE(page_->detail());
  RunWriter writer(run_db());
  open_run();
  show(*page_);
  EXPECT_FALSE(page_->detail());
  QTest::keyClick(page_.get(), Qt::Key_Left, Qt::AltModifier);
  writer.job();
  writer.round(1);
  ASSERT_TRUE(happens([&] { return shown() == 1; }));
  page_->set_runs({});
  EXPECT_FALSE(page_->detail());
  EXPECT_TRUE(page_->picture().empty());
}

// Agents of consecutive rounds are mostly the same, so rows change in place and the selection
// stays.
TEST(RoundAgentsModelTest, KeepsItsRowsFromRoundToRound) {
  RoundAgentsModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  RoundDetail detail;
  detail.agents = {
      {.agent_id = "a", .part = AgentPart::contributed, .reported = true, .compute_s = 1},
      {.agent_id = "b", .part = AgentPart::left_out, .compute_s = 1}};
  model.update(detail);
  detail.agents[0].compute_s = 2;
  detail.agents.push_back({.agent_id = "c"});
  model.update(detail);
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(model.number(0, model.column_of("compute")), 2);
  EXPECT_EQ(model.text(1, model.column_of("compute")), "–") << "it did not report";
  EXPECT_EQ(model.text(1, model.column_of("part")), "left out, no report");
  detail.agents[0].agent_id = "another";
  model.update(detail);
  EXPECT_EQ(model.text(0, 0), "another");
}

// The second update has fewer rows than the first.
TEST(InputsModelTest, ShowsItsInputs) {
  InputsModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.update({{"alpha", "5 ms", "b"}, {"beta", "1", ""}});
  model.update({{"alpha", "6 ms", "b"}});
  EXPECT_EQ(model.text(0, 1), "6 ms");
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

// The event of round 2 may be written after the round was shown.
TEST_F(RoundPageTest, ShowsFailuresAsSoonAsTheirEventsArrive) {
  RunWriter writer(run_db());
  open_page(writer, 2);
  EXPECT_TRUE(page_->rows().rows[0].moments.empty());
  TelemetryRows rows;
  rows.events.push_back({wall_time_ns(writer.clock()),
                         {.level = LogLevel::warning,
                          .name = "round_aborted",
                          .reason = "no_quorum",
                          .job = run_testing::kJob,
                          .round = 2}});
  writer.add(rows);
  ASSERT_TRUE(happens([&] {
    page_->refresh();
    return !page_->rows().rows[0].moments.empty();
  }));
  EXPECT_TRUE(page_->rows().note.contains("attempt aborted, the next one starts (no quorum)"))
      << page_->rows().note.toStdString();
}

// The agent is no member of the run's table, so only the event can name it.
TEST_F(RoundPageTest, NamesAnAgentThatWasExcludedForItsNumbers) {
  RunWriter writer(run_db());
  open_page(writer, 2);
  TelemetryRows rows;
  rows.events.push_back({wall_time_ns(writer.clock()),
                         {.level = LogLevel::error,
                          .name = "agent_excluded",
                          .reason = "not_finite",
                          .source = "garage-02",
                          .job = run_testing::kJob,
                          .round = 2}});
  writer.add(rows);
  ASSERT_TRUE(happens([&] {
    page_->refresh();
    return page_->rows().note.contains("garage-02");
  }));
  const QString note = page_->rows().note;
  EXPECT_TRUE(note.contains("garage-02")) << note.toStdString();
  EXPECT_TRUE(note.contains("excluded, its numbers cannot be added (not finite)"))
      << note.toStdString();
}

}  // namespace
}  // namespace tributary::dashboard
