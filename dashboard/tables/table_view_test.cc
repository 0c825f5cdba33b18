// User actions on a table, by mouse and by keyboard.
#include "dashboard/tables/table_view.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTimer>
#include <QVBoxLayout>
#include <array>
#include <memory>
#include <set>

#include "dashboard/plot/plot_testing.h"
#include "dashboard/tables/cells/table_delegate.h"
#include "dashboard/tables/cells/tables_testing.h"
#include "dashboard/tables/filter_bar.h"
#include "dashboard/tables/models/agents_model.h"
#include "dashboard/tables/models/events_model.h"

namespace tributary::dashboard {
namespace {

using tables_testing::hostile_texts;
using tables_testing::kTestJob;
using tables_testing::some_agents;
using tables_testing::some_event;
using tables_testing::some_report;

// A table with its filter bar above it, as on the pages.
template <typename Model>
struct TableUnderTest {
  TableUnderTest() {
    auto* const layout = new QVBoxLayout(&window);
    layout->addWidget(&bar);
    layout->addWidget(&table);
    window.setPalette(palette_for_tests(false));
    window.resize(900, 400);
    window.show();
    window.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window, 60'000));
  }

  QWidget window;
  Model model;
  TableView table{model, &window};
  FilterBar bar{table, window};
  std::unique_ptr<QAbstractItemModelTester> tester = std::make_unique<QAbstractItemModelTester>(
      &table.proxy(), QAbstractItemModelTester::FailureReportingMode::Fatal);
};

// The table of agents with a filter bar, fed like a page feeds it.
class AgentsTableTest : public testing::Test {
 protected:
  AgentsTableTest() { table().set_empty_text("No agent has connected yet."); }

  TableView& table() { return under_test_.table; }
  QLineEdit& line() { return *under_test_.bar.template findChild<QLineEdit*>(); }
  void feed(std::size_t count) {
    RunChanges changes;
    changes.agents = some_agents(count);
    view_.apply(std::move(changes));
    update();
  }
  // All agents except the last one report on the round.
  void report(std::size_t count, std::uint64_t round) {
    RunChanges changes;
    for (std::size_t i = 1; i < count; ++i) {
      const auto number = static_cast<std::int64_t>(i);
      changes.reports.push_back(some_report(number, round, 1.0 / static_cast<double>(i)));
    }
    view_.apply(std::move(changes));
    update();
  }
  void update() { under_test_.model.update(view_, kTestJob); }
  std::vector<std::string> order() {
    std::vector<std::string> out;
    for (int row = 0; row < table().proxy().rowCount(); ++row) {
      out.push_back(table().proxy().index(row, 0).data().toString().toStdString());
    }
    return out;
  }
  // Scrolls to the column first: a click outside the visible area would reach nothing.
  void click_head(const char* key) {
    QHeaderView& heads = *table().horizontalHeader();
    table().show_column(key, true);
    const int column = under_test_.model.column_of(key);
    table().scrollTo(table().proxy().index(0, column));
    const QPoint at(heads.sectionViewportPosition(column) + heads.sectionSize(column) / 2,
                    heads.height() / 2);
    QTest::mouseClick(heads.viewport(), Qt::LeftButton, {}, at);
  }
  void click_row(int row, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(table().viewport(), Qt::LeftButton, modifiers,
                      table().visualRect(table().proxy().index(row, 0)).center());
  }
  using Names = std::vector<std::string>;

  TableUnderTest<AgentsModel> under_test_;
  RunView view_;
};

// Agent 3 has no loss. Three clicks go through ascending, descending and unsorted.
TEST_F(AgentsTableTest, SortsByNumbersWithUnknownOnesLast) {
  feed(3);
  report(3, 1);
  click_head("loss");
  EXPECT_EQ(order(), (Names{"agent-2", "agent-1", "agent-3"}));
  click_head("loss");
  EXPECT_EQ(order(), (Names{"agent-1", "agent-2", "agent-3"})) << "downward, unknown last as well";
  click_head("loss");
  EXPECT_EQ(order(), (Names{"agent-1", "agent-2", "agent-3"})) << "as they came";
}

// Plain text order would put agent-10 before agent-2.
TEST_F(AgentsTableTest, SortsNamesAsPeopleCount) {
  feed(11);
  click_head("agent");
  EXPECT_EQ(order()[1], "agent-2");
  EXPECT_EQ(order()[10], "agent-11");
  click_head("agent");
  EXPECT_EQ(order()[0], "agent-11");
}

// The loss of agent 2 rises from the lowest to the highest. The selection follows the agent, not
// the row.
TEST_F(AgentsTableTest, ChangedRowsAreSortedAgainAndTheSelectionStays) {
  feed(3);
  report(3, 1);
  click_head("loss");
  click_row(0);
  ASSERT_EQ(table().current_row(), 1);
  RunChanges changes;
  changes.reports = {some_report(2, 2, 9)};
  view_.apply(std::move(changes));
  update();
  EXPECT_EQ(order(), (Names{"agent-1", "agent-2", "agent-3"}));
  EXPECT_EQ(table().current_row(), 1);
  EXPECT_TRUE(table().selectionModel()->isRowSelected(1, {}));
}

// Half of the agents have a device with "nano" in its name. "agent:1" restricts one column; both
// conditions must hold.
TEST_F(AgentsTableTest, FiltersAsOneTypesAndCounts) {
  feed(12);
  EXPECT_EQ(under_test_.bar.count_text(), "12");
  QTest::keyClick(&table(), Qt::Key_F, Qt::ControlModifier);
  EXPECT_TRUE(line().hasFocus());
  QTest::keyClicks(&line(), "nano");
  EXPECT_EQ(under_test_.bar.count_text(), "6 of 12");
  QTest::keyClicks(&line(), " agent:1");
  EXPECT_EQ(order(), (Names{"agent-10", "agent-12"}));
  EXPECT_EQ(under_test_.bar.count_text(), "2 of 12");
  feed(14);
  EXPECT_EQ(under_test_.bar.count_text(), "3 of 14") << "new rows pass the filter as well";
  QTest::keyClick(&line(), Qt::Key_Down);
  EXPECT_TRUE(table().hasFocus());
  EXPECT_EQ(table().current_row(), 9);
  QTest::keyClick(&table(), Qt::Key_Escape);
  EXPECT_EQ(under_test_.bar.count_text(), "14");
  QTest::keyClick(&table(), Qt::Key_F, Qt::ControlModifier);
  QTest::keyClicks(&line(), "x");
  QTest::keyClick(&line(), Qt::Key_Escape);
  EXPECT_TRUE(line().text().isEmpty());
  EXPECT_TRUE(line().hasFocus()) << "first it clears";
  QTest::keyClick(&line(), Qt::Key_Escape);
  EXPECT_TRUE(table().hasFocus()) << "then it leads back";
}

// Rows are copied in the order of the table, not of the clicks, and without hidden columns. Tabs
// and CRLF are what spreadsheets expect.
TEST_F(AgentsTableTest, CopiesTheRowsThatAreChosenInTheirOrder) {
  feed(4);
  for (const char* key : {"last", "best", "round_time", "ratio", "gain", "residual", "alpha_up",
                          "rate_up", "alpha_down", "rate_down", "reports", "seen", "trend"}) {
    table().show_column(key, false);
  }
  click_row(2);
  click_row(0, Qt::ControlModifier);
  QTest::keyClick(&table(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(),
            "Agent\tState\tDevice\r\n"
            "agent-1\tconnected\tOrin NX\r\n"
            "agent-3\tconnected\tOrin NX\r\n");
}

// A chosen row is shown beside the table; an entered row leads to another page.
TEST_F(AgentsTableTest, EnterAndADoubleClickOpenARow) {
  feed(3);
  QSignalSpy chosen(&table(), &TableView::row_chosen);
  QSignalSpy entered(&table(), &TableView::row_entered);
  click_row(1);
  QTest::keyClick(&table(), Qt::Key_Down);
  QTest::keyClick(&table(), Qt::Key_Return);
  ASSERT_EQ(chosen.size(), 2);
  EXPECT_EQ(chosen[1][0].toInt(), 2);
  ASSERT_EQ(entered.size(), 1);
  EXPECT_EQ(entered[0][0].toInt(), 2);
  click_row(0);
  QTest::mouseDClick(table().viewport(), Qt::LeftButton, {},
                     table().visualRect(table().proxy().index(0, 0)).center());
  ASSERT_EQ(entered.size(), 2);
  EXPECT_EQ(entered[1][0].toInt(), 0);
}

// Answers a menu as soon as it is open; the menu blocks until then.
void answer_menu(const QString& title, QStringList* seen = nullptr) {
  QTimer::singleShot(0, [=] {
    auto* const menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    ASSERT_TRUE(menu);
    for (QAction* action : menu->actions()) {
      if (seen) *seen << action->text();
      if (action->text() == title) action->trigger();
    }
    menu->close();
  });
}

// The menu lists all columns, also those that are hidden.
TEST_F(AgentsTableTest, ColumnsAreShownAndHiddenFromTheMenuOfTheHeads) {
  feed(2);
  EXPECT_FALSE(table().column_shown("build"));
  QHeaderView& heads = *table().horizontalHeader();
  QStringList seen;
  answer_menu("Build", &seen);
  emit heads.customContextMenuRequested({5, 5});
  EXPECT_TRUE(table().column_shown("build"));
  EXPECT_EQ(seen.size(), under_test_.model.columnCount());
  answer_menu("State");
  emit heads.customContextMenuRequested({5, 5});
  EXPECT_FALSE(table().column_shown("state"));
}

// Without a column there would be no header whose menu could bring one back.
TEST_F(AgentsTableTest, TheLastColumnCannotBeHidden) {
  feed(1);
  for (const TableColumn& column : under_test_.model.columns()) {
    table().show_column(column.key, column.key == "agent");
  }
  answer_menu("Agent");
  emit table().horizontalHeader()->customContextMenuRequested({5, 5});
  EXPECT_TRUE(table().column_shown("agent"));
}

// New rows must not undo a width that the user has set.
TEST_F(AgentsTableTest, WidthsAreChosenOnceAndThenAPersonsOwn) {
  feed(1);
  const int column = under_test_.model.column_of("device");
  EXPECT_GT(table().columnWidth(column), table().fontMetrics().horizontalAdvance("Orin NX"));
  table().setColumnWidth(column, 77);
  feed(5);
  EXPECT_EQ(table().columnWidth(column), 77);
}

// Only three narrow columns are shown, so the last one fills the rest of the window and no scroll
// bar appears.
TEST_F(AgentsTableTest, AStretchedLastColumnDoesNotWidenTheTable) {
  table().horizontalHeader()->setStretchLastSection(true);
  const std::set<QString> kept = {"agent", "state", "seen"};
  for (const TableColumn& one : under_test_.model.columns()) {
    table().show_column(one.key, kept.contains(one.key));
  }
  feed(2);
  QApplication::processEvents();
  EXPECT_EQ(table().horizontalScrollBar()->maximum(), 0);
  const QHeaderView& heads = *table().horizontalHeader();
  EXPECT_EQ(heads.length(), table().viewport()->width());
}

// The widest column is bounded in pixels, and a line break does not make a row taller.
TEST_F(AgentsTableTest, HostileNamesMakeNeitherWideColumnsNorHighRows) {
  RunChanges changes;
  changes.agents = std::vector<AgentInfo>();
  for (const std::string& text : hostile_texts()) {
    const auto number = static_cast<std::int64_t>(changes.agents->size()) + 1;
    changes.agents->push_back({.number = number, .agent_id = text, .device = text});
  }
  view_.apply(std::move(changes));
  update();
  for (int column = 0; column < under_test_.model.columnCount(); ++column) {
    EXPECT_LE(table().columnWidth(column), 300);
  }
  EXPECT_EQ(table().rowHeight(1), table().rowHeight(0));
  EXPECT_FALSE(under_test_.window.grab().isNull());
}

// Every seventh loss is unknown. The curve of agent 1 must be drawn nevertheless, and a dark
// palette changes its colour.
TEST_F(AgentsTableTest, ItsCurvesAreDrawnInTheColourOfThePalette) {
  feed(2);
  for (std::uint64_t round = 1; round <= 30; ++round) {
    RunChanges changes;
    const double loss = round % 7 == 0 ? kUnknown : 1.0 / static_cast<double>(round);
    changes.reports = {some_report(1, round, loss)};
    view_.apply(std::move(changes));
  }
  update();
  const int column = under_test_.model.column_of("trend");
  EXPECT_GE(table().columnWidth(column), TableDelegate::kCurveWidth);
  const auto cell = [&](int row) {
    const QRect rect = table().visualRect(table().proxy().index(row, column));
    return table().viewport()->grab(rect).toImage();
  };
  table().scrollTo(table().proxy().index(0, column));
  EXPECT_TRUE(has_colour(cell(0), slot_colour(0, false), 40));
  EXPECT_FALSE(has_colour(cell(1), slot_colour(0, false), 40)) << "it has told nothing";
  under_test_.window.setPalette(palette_for_tests(true));
  EXPECT_TRUE(has_colour(cell(0), slot_colour(0, true), 40));
}

// An empty area would leave open whether data are missing or still loading. A filter that hides all
// rows must be distinguishable from that.
TEST_F(AgentsTableTest, AnEmptyTableShowsItsEmptyText) {
  const auto ink = [&] {
    return inked_share(table().viewport()->grab().toImage(),
                       table().palette().color(QPalette::Base));
  };
  EXPECT_GT(ink(), 0.0005);
  table().set_empty_text({});
  EXPECT_EQ(ink(), 0);
  feed(2);
  under_test_.bar.set_line("nobody is called so");
  EXPECT_GT(ink(), 0.0005) << "it says that there is a filter";
}

// --- events ------------------------------------------------------------------------------------

// Events whose levels repeat in the order warning, error, info, so each third has one level.
class EventsTableTest : public testing::Test {
 protected:
  EventsTableTest() {
    under_test_.bar.add_levels(under_test_.model.level_column());
    under_test_.table.set_follow_end(true);
  }
  void feed(std::int64_t first, std::int64_t last) {
    constexpr std::array kLevels = {LogLevel::info, LogLevel::warning, LogLevel::error};
    RunChanges changes;
    for (std::int64_t i = first; i <= last; ++i) {
      changes.events.push_back(
          some_event(i, kLevels[static_cast<std::size_t>(i) % kLevels.size()], "text"));
    }
    view_.apply(std::move(changes));
    under_test_.model.update(view_);
    QApplication::processEvents();
  }
  QComboBox& levels() { return *under_test_.bar.findChild<QComboBox*>(); }
  QScrollBar& bar() { return *under_test_.table.verticalScrollBar(); }

  TableUnderTest<EventsModel> under_test_;
  RunView view_;
};

// A level keeps events of this severity and above: the last entry keeps errors only, the one before
// keeps warnings too.
TEST_F(EventsTableTest, ALevelKeepsEventsOfItsSeverity) {
  feed(1, 30);
  EXPECT_EQ(under_test_.bar.count_text(), "30");
  levels().setFocus();
  QTest::keyClick(&levels(), Qt::Key_End);
  EXPECT_EQ(under_test_.bar.count_text(), "10 of 30");
  QTest::keyClick(&levels(), Qt::Key_Up);
  EXPECT_EQ(under_test_.bar.count_text(), "20 of 30");
  under_test_.bar.set_line("level:error");
  EXPECT_EQ(under_test_.bar.count_text(), "10 of 30");
  QTest::keyClick(&under_test_.table, Qt::Key_Escape);
  EXPECT_EQ(under_test_.bar.count_text(), "30");
  EXPECT_EQ(levels().currentIndex(), 0);
}

// A user who reads an older event must not lose it when new ones arrive.
TEST_F(EventsTableTest, TheEndStaysInSightUntilOneScrollsAway) {
  feed(1, 100);
  EXPECT_GT(bar().maximum(), 0);
  EXPECT_EQ(bar().value(), bar().maximum());
  feed(101, 150);
  EXPECT_EQ(bar().value(), bar().maximum());
  bar().setValue(3);
  feed(151, 200);
  EXPECT_EQ(bar().value(), 3);
}

// Filtering must not emit one signal per row.
TEST_F(EventsTableTest, FiftyThousandPassAFilterInOneGo) {
  under_test_.tester.reset();  // the tester reads every cell, which is too slow here
  under_test_.bar.set_line("text");
  QSignalSpy inserted(&under_test_.table.proxy(), &QAbstractItemModel::rowsInserted);
  feed(1, 50'000);
  EXPECT_EQ(inserted.size(), 1);
  EXPECT_EQ(under_test_.bar.count_text(), "50000 of 50000");
}

}  // namespace
}  // namespace tributary::dashboard
