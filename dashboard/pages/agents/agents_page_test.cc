// User actions on the pages of the agents and of the events.
#include "dashboard/pages/agents/agents_page.h"

#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <chrono>

#include "core/run/run_testing.h"
#include "dashboard/pages/events/events_page.h"
#include "dashboard/plot/plot_testing.h"
#include "dashboard/session/session_testing.h"
#include "dashboard/tables/cells/tables_testing.h"

namespace tributary::dashboard {
namespace {

using tables_testing::kTestJob;
using tables_testing::some_agents;
using tables_testing::some_event;
using tables_testing::some_job;
using tables_testing::some_report;
using tables_testing::some_round;

constexpr std::uint64_t kRounds = 30;

// Round r lasts 2 s and ends at second 2 r. Only agent 1 has measured links.
RunView view_of_a_run(std::size_t agents = 3) {
  RunView view;
  RunChanges changes = some_job();
  changes.agents = some_agents(agents);
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    changes.rounds.push_back(some_round(round));
    for (std::size_t agent = 1; agent <= agents; ++agent) {
      changes.reports.push_back(some_report(static_cast<std::int64_t>(agent), round,
                                            1.0 / static_cast<double>(round * agent)));
    }
    const double time_s = 2.0 * static_cast<double>(round) - 1;
    changes.links.push_back({"agent-1", "", time_s, 0.004, 1e-6});
    changes.links.push_back({"", "agent-1", time_s, 0.005, 2e-6});
  }
  view.apply(std::move(changes));
  return view;
}

template <typename OnePage>
// A page of 1280 by 800 pixels that is active, because keys go to active windows only.
class ShownPage : public testing::Test {
 protected:
  ShownPage() {
    page_.setPalette(palette_for_tests(false));
    page_.resize(1280, 800);
    page_.show();
    page_.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&page_, 60'000));
  }
  void show(const RunView& view) {
    page_.show_run(view, kTestJob);
    context_.group().refresh_now();
  }
  void click(TableView& table, int row) {
    QTest::mouseClick(table.viewport(), Qt::LeftButton, {},
                      table.visualRect(table.proxy().index(row, 0)).center());
    context_.group().refresh_now();
  }

  PageContext context_;
  OnePage page_{context_};
};

using AgentsPageTest = ShownPage<AgentsPage>;
using EventsPageTest = ShownPage<EventsPage>;

// --- agents ------------------------------------------------------------------------------------

// Agents of early builds sent the name of the program instead of a version.
TEST_F(AgentsPageTest, ShowsTheVersionButNoProgramName) {
  RunChanges changes = some_job();
  changes.agents = some_agents(2);
  (*changes.agents)[0].build = "0.3.1";
  (*changes.agents)[1].build = "tributary";
  RunView view;
  view.apply(std::move(changes));
  show(view);
  click(page_.table(), 0);
  EXPECT_TRUE(page_.panel().heading().contains(", version 0.3.1,"))
      << page_.panel().heading().toStdString();
  click(page_.table(), 1);
  EXPECT_TRUE(page_.panel().heading().startsWith("agent-2"));
  EXPECT_FALSE(page_.panel().heading().contains("tributary"));
  EXPECT_FALSE(page_.panel().heading().contains("version"));
}

// The empty text of the table is drawn, and the panel for one agent is hidden.
TEST_F(AgentsPageTest, AnEmptyPageExplainsHowAnAgentJoins) {
  const RunView none;
  show(none);
  EXPECT_FALSE(page_.panel().isVisible());
  EXPECT_GT(inked_share(page_.table().viewport()->grab().toImage(),
                        page_.table().palette().color(QPalette::Base)),
            0.001);
}

// A chart appears without a selection. Device readings are optional, so their chart is hidden
// without them.
TEST_F(AgentsPageTest, TheFirstAgentIsDrawnAtOnce) {
  const RunView view = view_of_a_run();
  show(view);
  EXPECT_TRUE(page_.panel().heading().startsWith("agent-1"));
  EXPECT_TRUE(page_.panel().isVisible());
  for (PlotView* plot : {&page_.panel().time_plot(), &page_.panel().metrics_plot(),
                         &page_.panel().delay_plot(), &page_.panel().rate_plot()}) {
    EXPECT_FALSE(plot->empty());
  }
  EXPECT_FALSE(page_.panel().device_plot().isVisible()) << "no agent has readings";
}

// An update of the run does not change the choice.
TEST_F(AgentsPageTest, ARowThatIsChosenIsDrawnBelow) {
  const RunView view = view_of_a_run();
  show(view);
  click(page_.table(), 1);
  EXPECT_TRUE(page_.panel().heading().startsWith("agent-2"));
  EXPECT_FALSE(page_.panel().time_plot().empty());
  EXPECT_TRUE(page_.panel().delay_plot().empty()) << "nobody has measured its links";
  show(view);
  EXPECT_TRUE(page_.panel().heading().startsWith("agent-2")) << "the choice stays";
  page_.show_agent("agent-3");
  EXPECT_TRUE(page_.panel().heading().startsWith("agent-3"));
  EXPECT_EQ(page_.table().current_row(), 2);
}

// The crosshair must show the sums that the legend names.
TEST_F(AgentsPageTest, PartsOfARoundsTimeStandOnOneAnother) {
  const RunView view = view_of_a_run();
  show(view);
  context_.group().point_at(10);
  context_.group().refresh_now();
  const std::vector<CrosshairValue> values = page_.panel().time_plot().crosshair_values();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_DOUBLE_EQ(values[0].sample.y, 0.25);
  EXPECT_DOUBLE_EQ(values[1].sample.y, 0.30);
  EXPECT_DOUBLE_EQ(values[2].sample.y, 0.80);
  EXPECT_DOUBLE_EQ(values[3].sample.y, 0.90);
  EXPECT_TRUE(page_.panel().heading().contains("gain 75")) << page_.panel().heading().toStdString();
}

// Rounds take 2 s, so 30 rounds end at second 60, and round 10 is at second 20.
TEST_F(AgentsPageTest, OverTimeEverythingStandsWhereItHappened) {
  const RunView view = view_of_a_run();
  show(view);
  EXPECT_NEAR(context_.group().x_axis().range().high, 30, 1);
  context_.set_over_time(true);
  context_.group().refresh_now();
  EXPECT_NEAR(context_.group().x_axis().range().high, 60, 2);
  context_.group().point_at(20);
  context_.group().refresh_now();
  EXPECT_DOUBLE_EQ(page_.panel().time_plot().crosshair_values().at(0).sample.x, 20);
}

// The plots follow without a new selection.
TEST_F(AgentsPageTest, NewRowsAreAppended) {
  RunView view = view_of_a_run();
  show(view);
  RunChanges more;
  more.rounds = {some_round(kRounds + 1)};
  more.reports = {some_report(1, kRounds + 1, 0.25)};
  view.apply(std::move(more));
  show(view);
  EXPECT_GE(context_.group().x_axis().range().high, kRounds + 1);
  EXPECT_EQ(page_.panel().metrics_plot().legend().value_of("training_loss"), "0.25");
}

// A column appears with its first reading, unless a user has hidden it.
TEST_F(AgentsPageTest, ReadingsHavePlaceWhereThereAreSome) {
  RunView view = view_of_a_run();
  show(view);
  EXPECT_FALSE(page_.table().column_shown("temperature"));
  RunChanges more;
  more.metrics.push_back({0, 3, "soc_celsius", "agent-1", 6, 51.5});
  view.apply(std::move(more));
  show(view);
  EXPECT_TRUE(page_.table().column_shown("temperature"));
  EXPECT_TRUE(page_.panel().device_plot().isVisible());
  page_.table().show_column("temperature", false);
  show(view);
  EXPECT_FALSE(page_.table().column_shown("temperature")) << "a person has hidden it";
}

// The page asks; the window decides which page shows the round.
TEST_F(AgentsPageTest, AClickOnARoundsTimeAsksForTheRound) {
  const RunView view = view_of_a_run();
  show(view);
  QSignalSpy requested(&page_, &Page::round_requested);
  PlotView& plot = page_.panel().time_plot();
  const QPoint at = plot.axes().pixel_of(12, 0.4).toPoint();
  QTest::mouseClick(plot.childAt(plot.axes().data_rect().center()), Qt::LeftButton, {}, at);
  ASSERT_EQ(requested.size(), 1);
  EXPECT_EQ(requested[0][0].toULongLong(), 12u);
}

// Nothing of the previous run may stay, also no heading.
TEST_F(AgentsPageTest, AnotherRunsAgentsTakeTheirPlace) {
  const RunView view = view_of_a_run();
  show(view);
  RunView other;
  RunChanges changes;
  changes.agents = std::vector<AgentInfo>{{.number = 1, .agent_id = "else"}};
  other.apply(std::move(changes));
  show(other);
  EXPECT_EQ(page_.model().rowCount(), 1);
  EXPECT_FALSE(page_.panel().heading().startsWith("agent"));
  page_.show_agent("else");
  EXPECT_TRUE(page_.panel().heading().startsWith("else"));
}

// --- events ------------------------------------------------------------------------------------

// The first event has no round of its own; at second 5 round 3 is half over. The third is later
// than all rounds.
RunView view_with_events() {
  RunView view = view_of_a_run();
  RunChanges changes;
  changes.events = {some_event(5, LogLevel::info, "in round three, by its time"),
                    some_event(6, LogLevel::warning, "in round nine", 9),
                    some_event(1000, LogLevel::error, std::string("two\nlines <b>x</b>"))};
  view.apply(std::move(changes));
  return view;
}

// The signal has the position on both axes: in rounds and in seconds.
TEST_F(EventsPageTest, ARowThatIsChosenPointsThere) {
  const RunView view = view_with_events();
  QSignalSpy moment(&page_, &Page::moment_requested);
  show(view);
  EXPECT_EQ(moment.size(), 0) << "nobody has chosen one";
  click(page_.table(), 0);
  ASSERT_EQ(moment.size(), 1);
  EXPECT_DOUBLE_EQ(moment[0][0].toDouble(), 2.5);
  EXPECT_DOUBLE_EQ(moment[0][1].toDouble(), 5);
  QTest::keyClick(&page_.table(), Qt::Key_Down);
  ASSERT_EQ(moment.size(), 2);
  EXPECT_DOUBLE_EQ(moment[1][0].toDouble(), 9);
  QTest::keyClick(&page_.table(), Qt::Key_Down);
  EXPECT_DOUBLE_EQ(moment[2][0].toDouble(), kRounds) << "after the last round";
  EXPECT_TRUE(page_.detail().contains("two⏎lines <b>x</b>")) << page_.detail().toStdString();
}

// An event without a round of its own opens none, although it has a position.
TEST_F(EventsPageTest, EnterOpensTheRoundIfThereIsOne) {
  const RunView view = view_with_events();
  show(view);
  QSignalSpy requested(&page_, &Page::round_requested);
  click(page_.table(), 0);
  QTest::keyClick(&page_.table(), Qt::Key_Return);
  EXPECT_EQ(requested.size(), 0);
  click(page_.table(), 1);
  QTest::keyClick(&page_.table(), Qt::Key_Return);
  ASSERT_EQ(requested.size(), 1);
  EXPECT_EQ(requested[0][0].toULongLong(), 9u);
}

// Ctrl+F moves the focus to the filter.
TEST_F(EventsPageTest, AFilterIsTypedFromAnywhereOnThePage) {
  const RunView view = view_with_events();
  show(view);
  QTest::keyClick(&page_.table(), Qt::Key_F, Qt::ControlModifier);
  QTest::keyClicks(page_.filter().findChild<QLineEdit*>(), "text:nine");
  EXPECT_EQ(page_.filter().count_text(), "1 of 3");
}

// The view keeps three events, so the selected one is dropped. No user chose the row that the table
// selects then.
TEST_F(EventsPageTest, ARowThatIsForgottenPointsNowhere) {
  RunView view({.events_max = 3});
  RunChanges changes;
  changes.events = {some_event(1, LogLevel::info, "a"), some_event(2, LogLevel::info, "b")};
  view.apply(std::move(changes));
  show(view);
  click(page_.table(), 0);
  QSignalSpy moment(&page_, &Page::moment_requested);
  RunChanges more;
  for (std::int64_t i = 3; i <= 5; ++i) more.events.push_back(some_event(i, LogLevel::info, "c"));
  view.apply(std::move(more));
  show(view);
  EXPECT_EQ(page_.model().rowCount(), 3);
  EXPECT_EQ(moment.size(), 0);
}

// --- a growing file ------------------------------------------------------------------------------

// Both pages on one journal that grows. The file is read again every 5 ms.
class PagesOfAFileTest : public testing::Test {
 protected:
  PagesOfAFileTest() {
    for (Page* page : {static_cast<Page*>(&agents_), static_cast<Page*>(&events_)}) {
      page->resize(1280, 800);
      page->show();
      QObject::connect(&run_, &RunSession::changed, page, &Page::refresh);
    }
  }

  QTemporaryDir folder_;
  std::string path_ = folder_.filePath("run.db").toStdString();
  run_testing::RunWriter writer_{path_};
  PageContext context_;
  AgentsPage agents_{context_};
  EventsPage events_{context_};
  RunSession run_{{.origin = origin_of_file(path_), .look_every = std::chrono::milliseconds(5)}};
};

// Waits are bounded by happens() alone; the test measures no time.
TEST_F(PagesOfAFileTest, WrittenRowsAppearByThemselves) {
  writer_.job();
  agents_.set_runs({&run_});
  events_.set_runs({&run_});
  writer_.agents(true);
  writer_.round(1);
  writer_.round(2);  // tells the wait of the first
  writer_.event("agent_gone", "ended its session");
  ASSERT_TRUE(happens([&] {
    return agents_.model().rowCount() == 2 && agents_.panel().time_plot().empty() == false &&
           events_.model().rowCount() == 1;
  }));
  EXPECT_TRUE(agents_.panel().heading().startsWith("a")) << agents_.panel().heading().toStdString();
  writer_.round(3);
  writer_.agents(false);
  EXPECT_TRUE(happens([&] {
    const int state = agents_.model().column_of("state");
    const int rounds = agents_.model().column_of("reports");
    return agents_.model().text(0, state) == "away" && agents_.model().text(0, rounds) == "3";
  }));
  EXPECT_TRUE(happens([&] { return agents_.settled() && events_.settled(); }));
  agents_.set_runs({});
  events_.set_runs({});
  EXPECT_EQ(agents_.model().rowCount(), 0);
  EXPECT_EQ(events_.model().rowCount(), 0);
  EXPECT_FALSE(agents_.panel().isVisible());
}

// Rounds 5 to 8 end at seconds 10, 12, 14 and 16. An event between two ends lies between their
// numbers.
TEST(RoundOfEvent, IsItsOwnOrThatOfItsTime) {
  RoundTable rounds(100);
  EXPECT_EQ(round_of_event(some_event(1, LogLevel::info, ""), &rounds), 0);
  EXPECT_EQ(round_of_event(some_event(1, LogLevel::info, ""), nullptr), 0);
  for (std::uint64_t round = 5; round <= 8; ++round) rounds.add(some_round(round));
  EXPECT_DOUBLE_EQ(round_of_event(some_event(1, LogLevel::info, ""), &rounds), 5);
  EXPECT_DOUBLE_EQ(round_of_event(some_event(11, LogLevel::info, ""), &rounds), 5.5);
  EXPECT_DOUBLE_EQ(round_of_event(some_event(99, LogLevel::info, ""), &rounds), 8);
  EXPECT_DOUBLE_EQ(round_of_event(some_event(11, LogLevel::info, "", 3), &rounds), 3);
}

}  // namespace
}  // namespace tributary::dashboard
