// User actions on the decisions page, with runs written by a journal.
#include "dashboard/pages/decisions/decisions_page.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QSignalSpy>

#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "dashboard/pages/common/run_page_testing.h"
#include "dashboard/pages/decisions/decision_pictures.h"
#include "dashboard/pages/plan/decision_view.h"
#include "dashboard/pages/round/round_page.h"
#include "dashboard/plot/data/name_colours.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using run_testing::PlanOptions;
using run_testing::RunWriter;

// A plan with a reason and alternatives; other plans only continue the previous one.
PlanOptions decided(const std::string& codec, double ratio, const std::string& sentence) {
  return {.codec = codec,
          .ratio = ratio,
          .trigger = wire::Trigger::link_changed,
          .sentence = sentence,
          .decided = true};
}

// A decision from a belief in uplinks of 1 to 8 Mbit/s.
PlanOptions believed(const std::string& codec, const std::string& before = {},
                     std::size_t agents = 3) {
  PlanInputs inputs = plan_testing::federation(100, 10, agents);
  inputs.peers_reachable = false;
  for (std::size_t i = 0; i < agents; ++i) {
    inputs.agents[i].name = i < 3 ? std::string(1, "abc"[i]) : std::to_string(i);
  }
  plan_testing::believe_uplinks(inputs, 1, 8);
  if (!before.empty()) {
    inputs.before = PlanBefore{
        .choice = {.codec = before, .bucket_values = inputs.values}, .rounds = 3, .agents = agents};
  }
  PlanOptions options = decided(codec, 1, "because of the links");
  options.inputs = text_of(inputs);
  return options;
}

class DecisionsPageTest : public PageOfRunTest {
 protected:
  // Three rounds as configured by the job, three after the first decision, one after the second.
  void a_run(RunWriter& writer) {
    writer.job();
    for (std::uint64_t round = 1; round <= 3; ++round) writer.round(round, {.codec = "fp16"});
    writer.round(4, decided("topk", 0.1, "the line became slow"));
    writer.round(5, {.codec = "topk", .ratio = 0.1});
    writer.round(6, {.codec = "topk", .ratio = 0.1});
    writer.round(7, decided("thc", 1, "the line is quick again"));
    writer.link("a", "", kUnknown, 8e-6);
    writer.link("", "a", 0.01, kUnknown);
  }
  void open_page(RunWriter& writer) {
    a_run(writer);
    open_run();
    page_ = std::make_unique<DecisionsPage>(context_);
    show(*page_);
  }
  QString cell(int row, const QString& column) {
    TableView& table = page_->table();
    return table.proxy().index(row, table.proxy().table().column_of(column)).data().toString();
  }
  bool shows(const QString& what) { return page_->decision().heading().contains(what); }

  std::unique_ptr<DecisionsPage> page_;
};

// The configured choice of the first rounds is a decision as well, without an earlier choice. Plans
// predict 500 ms, and the writer's rounds take 1 s.
TEST_F(DecisionsPageTest, ShowsTheNewestDecisionAndAllOfThem) {
  RunWriter writer(run_db());
  open_page(writer);
  EXPECT_EQ(page_->decision().heading(), "Round 7: thc, raw by star (link changed)");
  EXPECT_EQ(page_->decision().sentence(), "the line is quick again");
  EXPECT_EQ(page_->decision().times(), "Predicted 500 ms, took 1 s (2 times as long).");
  ASSERT_EQ(page_->table().proxy().rowCount(), 3);
  EXPECT_EQ(cell(0, "round"), "7");
  EXPECT_EQ(cell(1, "from") + " > " + cell(1, "to"),
            "fp16, raw by star > topk, raw at 0.1 by star");
  EXPECT_EQ(cell(1, "because"), "link changed");
  EXPECT_EQ(cell(1, "reason"), "the line became slow") << "read one after the other, by itself";
  EXPECT_EQ(cell(2, "from"), "");
}

// 8e-6 s per byte is 1 Mbit/s. Rounds take 1 s, so over time the axis ends at 7 s.
TEST_F(DecisionsPageTest, ChartsShowTheAvailableData) {
  RunWriter writer(run_db());
  open_page(writer);
  DecisionPictures& pictures = page_->pictures();
  for (PlotView* view : {&pictures.rate(), &pictures.alpha(), &pictures.seconds(),
                         &pictures.ratios(), &pictures.names()}) {
    EXPECT_FALSE(view->empty());
  }
  for (const char* key : {"a ↑", "topk", "star", "ratio 0.1 to 0.3"}) {
    EXPECT_FALSE(pictures.rate().legend().rect_of(key).isEmpty()) << key;
  }
  EXPECT_EQ(pictures.rate().legend().value_of("a ↑"), "1.00 Mbit/s");
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_NEAR(pictures.seconds().axes().x_range().high, 7, 0.1);
  EXPECT_EQ(pictures.seconds().legend().value_of("measured"), "1 s");
}

// A measurement counts for the round after it. In a stopped run there is none, so it counts at the
// end.
TEST_F(DecisionsPageTest, AStoppedRunShowsItsLastMeasurements) {
  RunWriter writer(run_db());
  open_page(writer);
  writer.clock().advance(std::chrono::seconds(3));
  writer.link("a", "", kUnknown, 8e-5);
  ASSERT_TRUE(happens([&] { return run_->view().link("a", "")->beta_last_s_per_byte == 8e-5; }));
  context_.group().refresh_now();
  EXPECT_EQ(page_->pictures().rate().legend().value_of("a ↑"), "1.00 Mbit/s") << "a round may come";
  JobRecord stopped;
  stopped.job = kJob;
  stopped.definition = run_testing::definition("digits");
  stopped.state = wire::JobState::stopped;
  writer.store(stopped);
  ASSERT_TRUE(happens([&] {
    context_.group().refresh_now();
    return page_->pictures().rate().legend().value_of("a ↑") == "100 kbit/s";
  }));
  EXPECT_EQ(page_->pictures().rate().axes().x_range().high, 7);
}

// Five names used colours before. A codec's colour depends on its name, so all pages agree.
TEST_F(DecisionsPageTest, AColourBelongsToItsCodec) {
  RunWriter writer(run_db());
  for (int i = 0; i < 5; ++i) context_.group().colours().slot_of(QString("before %1").arg(i));
  open_page(writer);
  const QImage strips = page_->pictures().rate().exporter().picture({900, 300});
  const QImage bars = page_->pictures().names().exporter().picture({500, 200});
  for (const QImage* picture : {&strips, &bars}) {
    for (const char* name : {"topk", "thc", "star"}) {
      EXPECT_TRUE(has_colour(*picture, slot_colour(slot_of_name(name), false))) << name;
    }
  }
}

// Round 5 continues the plan of round 4, whose reason is shown.
TEST_F(DecisionsPageTest, AClickOnARoundOpensItsPlan) {
  RunWriter writer(run_db());
  open_page(writer);
  click(page_->pictures().seconds(), 5.2);
  EXPECT_TRUE(shows("Round 5: topk, raw at 0.1 by star, as decided in round 4"));
  settle(*page_);
  EXPECT_EQ(page_->decision().sentence(), "the line became slow");
  ASSERT_TRUE(page_->decision().detail());
  EXPECT_EQ(page_->decision().detail()->round, 4u);
  EXPECT_TRUE(page_->decision().times().contains("Median of the 3 rounds since the decision: 1 s"));
  click(page_->pictures().rate(), 7);
  settle(*page_);
  EXPECT_EQ(page_->decision().sentence(), "the line is quick again");
}

// Round 4 lasts from second 3 to second 4.
TEST_F(DecisionsPageTest, OverTimeAClickFindsTheRoundOfThatMoment) {
  RunWriter writer(run_db());
  open_page(writer);
  context_.set_over_time(true);
  context_.group().refresh_now();
  click(page_->pictures().seconds(), 3.5);
  EXPECT_TRUE(shows("Round 4")) << page_->decision().heading().toStdString();
}

// The next row is the one of 4 s, which the picture marks as selected.
TEST_F(DecisionsPageTest, TheChosenAlternativeIsTheKneeThatIsMarked) {
  RunWriter writer(run_db());
  open_page(writer);
  DecisionView& decision = page_->decision();
  decision.picture().group().refresh_now();
  const auto& alternatives = decision.detail()->alternatives;
  const int row = decision.alternatives().current_row();
  ASSERT_GE(row, 0);
  EXPECT_TRUE(alternatives[static_cast<std::size_t>(row)].chosen);
  EXPECT_EQ(decision.picture().legend().value_of("chosen: the knee"),
            text_of(Unit::seconds, alternatives[static_cast<std::size_t>(row)].round_s));
  EXPECT_TRUE(decision.picture().legend().rect_of("selected").isEmpty());
  decision.alternatives().setFocus();
  QTest::keyClick(&decision.alternatives(), Qt::Key_Down);
  decision.picture().group().refresh_now();
  EXPECT_EQ(decision.picture().legend().value_of("selected"), "4 s");
  EXPECT_EQ(decision.inputs().proxy().rowCount(), 2) << "an observation, and the inputs' one line";
}

// The table shows the newest decision first, and select_row() takes the model's row: 2 is round 7.
TEST_F(DecisionsPageTest, TheTableIsUsedByKeys) {
  RunWriter writer(run_db());
  open_page(writer);
  QSignalSpy requested(page_.get(), &Page::round_requested);
  page_->table().setFocus();
  page_->table().select_row(2);
  QTest::keyClick(&page_->table(), Qt::Key_Down);
  EXPECT_TRUE(shows("Round 4"));
  QTest::keyClick(&page_->table(), Qt::Key_Return);
  ASSERT_EQ(requested.count(), 1);
  EXPECT_EQ(requested[0][0].value<std::uint64_t>(), 4u);
  auto* const button = page_->decision().findChild<QPushButton*>();
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(requested.count(), 2);
}

// A user who reads an older decision is not interrupted by a new one.
TEST_F(DecisionsPageTest, FollowsTheNewestDecisionUntilOneIsChosenAndAfterGoingLive) {
  RunWriter writer(run_db());
  open_page(writer);
  writer.round(8, decided("fp16", 1, "eight"));
  ASSERT_TRUE(happens([&] { return page_->decision().sentence() == "eight"; }));
  click(page_->pictures().seconds(), 2);
  writer.round(9, decided("thc", 1, "nine"));
  ASSERT_TRUE(happens([&] { return page_->table().proxy().rowCount() == 5; }));
  EXPECT_TRUE(shows("Round 2"));
  QTest::keyClick(&page_->pictures().seconds(), Qt::Key_End);
  ASSERT_TRUE(happens([&] { return page_->decision().sentence() == "nine"; }));
}

// Both pages ask the same reader for details at the same time, in opposite orders.
TEST_F(DecisionsPageTest, ItAndTheRoundPageBothReceiveTheirRounds) {
  RunWriter writer(run_db());
  open_page(writer);
  RoundPage other(context_);
  show(other);
  for (std::uint64_t round = 1; round <= 7; ++round) {
    page_->show_round(8 - round);
    other.show_round(round);
  }
  settle(*page_);
  settle(other);
  EXPECT_EQ(other.detail()->round, 7u);
  EXPECT_TRUE(shows("Round 1"));
  EXPECT_EQ(page_->decision().detail()->round, 1u);
}

// Round 2 sends float32 over uplinks of a few Mbit/s, which round 5 regrets.
TEST_F(DecisionsPageTest, ShowsWhatWasBelievedAndWhatCameOfIt) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1, {.codec = "fp16"});
  writer.round(2, believed("fp32"));
  writer.round(3, {.codec = "fp32"});
  writer.round(4, {.codec = "fp32"});
  writer.round(5, believed("threelc:s=1", "fp32"));
  writer.round(6, {.codec = "threelc:s=1"});
  open_run();
  page_ = std::make_unique<DecisionsPage>(context_);
  show(*page_);
  EXPECT_TRUE(page_->decision().belief().startsWith("Expected "));
  EXPECT_TRUE(page_->decision().belief().endsWith("Regret: unknown until a later decision."))
      << page_->decision().belief().toStdString();
  PlotView& belief = page_->pictures().belief();
  EXPECT_FALSE(belief.empty());
  EXPECT_EQ(belief.legend().value_of("a ↑"), "5.00 Mbit/s") << "the median";
  EXPECT_EQ(belief.legend().value_of("a ↓"), "100 Mbit/s");
  EXPECT_EQ(cell(0, "regret"), "–") << "no later belief";
  EXPECT_NE(cell(1, "regret"), "–");
  page_->show_round(3);
  settle(*page_);
  EXPECT_TRUE(page_->decision().belief().contains("Regret by the belief of round 5: "))
      << page_->decision().belief().toStdString();
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_FALSE(belief.empty());
}

TEST_F(DecisionsPageTest, ManyAgentsHaveThreeBelievedLinks) {
  RunWriter writer(run_db());
  writer.job();
  writer.round(1, believed("threelc:s=1", {}, 1024));
  writer.round(2, {.codec = "threelc:s=1"});
  open_run();
  page_ = std::make_unique<DecisionsPage>(context_);
  show(*page_);
  Legend& legend = page_->pictures().belief().legend();
  for (const char* key : {"slowest ↑", "median ↑", "fastest ↑", "slowest ↓"}) {
    EXPECT_FALSE(legend.rect_of(key).isEmpty()) << key;
  }
  EXPECT_TRUE(legend.rect_of("a ↑").isEmpty());
}

// Earlier releases stored no worlds, and a file may contain anything.
TEST_F(DecisionsPageTest, ADecisionWithoutABeliefSaysWhy) {
  RunWriter writer(run_db());
  open_page(writer);
  EXPECT_TRUE(page_->decision().belief().startsWith("The belief is unknown: "));
  EXPECT_TRUE(page_->pictures().belief().empty());
}

// A job without planning has one decision, its policy, and no alternatives.
TEST_F(DecisionsPageTest, AFixedPolicyIsNamed) {
  RunWriter writer(run_db());
  writer.job();
  for (std::uint64_t round = 1; round <= 3; ++round) {
    writer.round(round, {.sentence = "as the job's policy says"});
  }
  open_run();
  page_ = std::make_unique<DecisionsPage>(context_);
  show(*page_);
  EXPECT_TRUE(page_->decision().sentence().startsWith(
      "as the job's policy says. This plan has no alternatives"));
  EXPECT_TRUE(page_->decision().picture().empty());
  EXPECT_EQ(page_->table().proxy().rowCount(), 1);
}

// The plan's columns are readable although its frame is not, so the charts stay.
TEST_F(DecisionsPageTest, APlanOfANewerBuildIsReportedAsUnreadable) {
  RunWriter writer(run_db());
  a_run(writer);
  ASSERT_EQ(writer.journal().database().execute("UPDATE plans SET frame = x'0102'").text(), "ok");
  open_run();
  page_ = std::make_unique<DecisionsPage>(context_);
  show(*page_);
  EXPECT_TRUE(page_->decision().sentence().contains("This build cannot read the round's plan"))
      << page_->decision().sentence().toStdString();
  EXPECT_FALSE(page_->pictures().seconds().empty());
}

// Four states: no run, a run without a job, a job without a round, and the first round.
TEST_F(DecisionsPageTest, EmptyStatesNameTheNextStep) {
  page_ = std::make_unique<DecisionsPage>(context_);
  page_->show();
  page_->refresh();
  EXPECT_TRUE(page_->decision().sentence().contains("Ctrl+O"));
  RunWriter writer(run_db());
  open_run();
  show(*page_);
  page_->refresh();
  EXPECT_TRUE(page_->decision().sentence().contains("tributary job submit"))
      << page_->decision().sentence().toStdString();
  writer.job();
  ASSERT_TRUE(happens([&] { return page_->decision().sentence().contains("No round has been"); }));
  writer.round(1, decided("thc", 1, "the first"));
  ASSERT_TRUE(happens([&] { return page_->decision().sentence() == "the first"; }));
  page_->set_runs({});
  EXPECT_TRUE(page_->decision().sentence().contains("Ctrl+O"));
}

// The model has a window of 20 decisions that moves, and asks for the newest missing sentence
// first.
TEST(DecisionsModelTest, KeepsItsRowsWhileItIsFed) {
  DecisionsModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  std::vector<Decision> decisions;
  for (std::uint64_t round = 1; round <= 50; ++round) {
    decisions.push_back({.round = round, .from = "a", .to = "b", .switched = round % 2 == 0});
    if (decisions.size() > 20) decisions.erase(decisions.begin());
    model.update(decisions);
    EXPECT_EQ(model.without_sentence(), round);
    model.set_sentence(round, "because");
  }
  EXPECT_EQ(resets.count(), 0);
  EXPECT_EQ(model.rowCount(), 20);
  EXPECT_EQ(model.text(model.row_of(50), model.column_of("reason")), "because");
  EXPECT_EQ(model.text(model.row_of(49), model.column_of("to")), "stays");
  EXPECT_EQ(model.row_of(3), -1);
  EXPECT_FALSE(model.without_sentence());
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace tributary::dashboard
