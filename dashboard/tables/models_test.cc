// Every model is fed step by step under QAbstractItemModelTester.
#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "dashboard/plot/plot_testing.h"
#include "dashboard/tables/cells/shown_text.h"
#include "dashboard/tables/cells/tables_testing.h"
#include "dashboard/tables/models/agents_model.h"
#include "dashboard/tables/models/alternatives_model.h"
#include "dashboard/tables/models/events_model.h"
#include "dashboard/tables/table_proxy.h"

namespace tributary::dashboard {
namespace {

using tables_testing::hostile_texts;
using tables_testing::kTestJob;
using tables_testing::some_agents;
using tables_testing::some_event;
using tables_testing::some_job;
using tables_testing::some_report;

// Ends the program at the first inconsistency that a view could not handle.
constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

// Counts the signals of a model. Views react to each signal, so their number is the cost of an
// update.
struct ModelWatch {
  explicit ModelWatch(QAbstractItemModel& model)
      : tester(&model, kFatal),
        inserted(&model, &QAbstractItemModel::rowsInserted),
        removed(&model, &QAbstractItemModel::rowsRemoved),
        changed(&model, &QAbstractItemModel::dataChanged),
        reset(&model, &QAbstractItemModel::modelReset) {}

  qsizetype signals_seen() const {
    return inserted.size() + removed.size() + changed.size() + reset.size();
  }
  void clear() {
    for (QSignalSpy* spy : {&inserted, &removed, &changed, &reset}) spy->clear();
  }

  QAbstractItemModelTester tester;
  QSignalSpy inserted;
  QSignalSpy removed;
  QSignalSpy changed;
  QSignalSpy reset;
};

// The text of a cell, by the stable key of its column.
QString shown(const TableModel& model, int row, const char* column) {
  return model.text(row, model.column_of(column));
}

RunView view_with_agents(std::size_t count) {
  RunView view;
  RunChanges changes = some_job();
  changes.agents = some_agents(count);
  view.apply(std::move(changes));
  return view;
}

// Reports of these agents on one round, with the same loss.
void report(RunView& view, std::uint64_t round, const std::vector<std::int64_t>& agents,
            double loss = 0.5) {
  RunChanges changes;
  for (const std::int64_t agent : agents) {
    changes.reports.push_back(some_report(agent, round, loss));
  }
  view.apply(std::move(changes));
}

// --- agents ------------------------------------------------------------------------------------

// Rates are inverse times per byte: 1e-6 s is 8 Mbit/s. Agent 2 has reported nothing, so its cells
// show a dash instead of a zero.
TEST(AgentsModel, ShowsKnownValuesWithUnits) {
  RunView view = view_with_agents(2);
  report(view, 1, {1}, 2);
  report(view, 2, {1}, 1.5);
  RunChanges changes;
  changes.links.push_back({"agent-1", "", 1, 0.004, 1e-6});
  changes.links.push_back({"", "agent-1", 1, 0.03, 2e-6});
  changes.ratios.push_back({kTestJob, "agent-1", 0.25});
  changes.metrics.push_back({kTestJob, 2, "soc_celsius", "agent-1", 2, 51.5});
  changes.metrics.push_back({kTestJob, 2, "total_watts", "agent-1", 2, 7});
  view.apply(std::move(changes));
  AgentsModel model;
  model.update(view, kTestJob);
  EXPECT_EQ(shown(model, 0, "agent"), "agent-1");
  EXPECT_EQ(shown(model, 0, "state"), "connected");
  EXPECT_EQ(shown(model, 0, "job"), "digits");
  EXPECT_EQ(shown(model, 0, "device"), "Orin NX");
  EXPECT_EQ(shown(model, 0, "round_time"), "800 ms");
  EXPECT_EQ(shown(model, 0, "alpha_up"), "4.00 ms");
  EXPECT_EQ(shown(model, 0, "rate_up"), "8.00 Mbit/s");
  EXPECT_EQ(shown(model, 0, "alpha_down"), "30.0 ms");
  EXPECT_EQ(shown(model, 0, "rate_down"), "4.00 Mbit/s");
  EXPECT_EQ(shown(model, 0, "ratio"), "0.25");
  EXPECT_EQ(shown(model, 0, "temperature"), "51.5 °C");
  EXPECT_EQ(shown(model, 0, "power"), "7 W");
  EXPECT_EQ(shown(model, 0, "last"), "1.5");
  EXPECT_EQ(shown(model, 0, "best"), "1.5");
  EXPECT_TRUE(model.has_readings());
  ASSERT_TRUE(model.curve(0, model.column_of("trend")));
  EXPECT_EQ(model.curve(0, model.column_of("trend"))->size(), 2u);
  EXPECT_EQ(shown(model, 1, "loss"), "–");
  EXPECT_EQ(shown(model, 1, "bytes_up"), "–");
  EXPECT_EQ(model.curve(1, model.column_of("trend")), nullptr);
}

// For a loss the best value is the lowest; for an accuracy it is the highest, which is not the last
// one here.
TEST(AgentsModel, AnAccuracyIsAShareAndItsBestTheHighest) {
  RunView view = view_with_agents(1);
  RunChanges changes;
  for (const double accuracy : {0.5, 0.9, 0.875}) {
    changes.metrics.push_back({kTestJob, 1, std::string(kAccuracyMetric), "agent-1", 1, accuracy});
  }
  view.apply(std::move(changes));
  AgentsModel model;
  model.update(view, kTestJob);
  EXPECT_EQ(shown(model, 0, "last"), "87.5 %");
  EXPECT_EQ(shown(model, 0, "best"), "90.0 %");
}

// Rows are never reset, because a reset would lose the user's selection and scroll position.
TEST(AgentsModel, AddsRowsAndChangesThemInPlace) {
  RunView view;
  AgentsModel model;
  ModelWatch watch(model);
  model.update(view, kTestJob);
  EXPECT_EQ(watch.signals_seen(), 0);
  view = view_with_agents(3);
  model.update(view, kTestJob);
  EXPECT_EQ(watch.inserted.size(), 1);
  watch.clear();
  model.update(view, kTestJob);
  EXPECT_EQ(watch.signals_seen(), 0) << "nothing was new";

  report(view, 1, {2});
  model.update(view, kTestJob);
  ASSERT_EQ(watch.changed.size(), 1);
  EXPECT_EQ(watch.signals_seen(), 1);
  EXPECT_EQ(watch.changed[0][0].toModelIndex().row(), 1);
  EXPECT_EQ(watch.changed[0][1].toModelIndex().row(), 1);
  watch.clear();

  RunChanges more;
  more.agents = some_agents(5, false);
  view.apply(std::move(more));
  model.update(view, kTestJob);
  EXPECT_EQ(watch.inserted.size(), 1);
  EXPECT_EQ(watch.changed.size(), 1);
  EXPECT_EQ(watch.reset.size() + watch.removed.size(), 0);
  EXPECT_EQ(shown(model, 4, "state"), "away");
}

// Reports name agents by number. The names come from another table, which may be read later.
TEST(AgentsModel, AnAgentIsThereBeforeTheFileNamesIt) {
  RunView view;
  report(view, 1, {1});
  AgentsModel model;
  ModelWatch watch(model);
  model.update(view, kTestJob);
  EXPECT_EQ(shown(model, 0, "agent"), "(unnamed)");
  RunChanges changes;
  changes.agents = some_agents(1);
  view.apply(std::move(changes));
  model.update(view, kTestJob);
  EXPECT_EQ(shown(model, 0, "agent"), "agent-1");
  EXPECT_EQ(watch.reset.size(), 0);
}

// Numbers of agents are unique within a file only, so rows of another run must not be taken for the
// same agents.
TEST(AgentsModel, AnotherRunIsAnotherTable) {
  AgentsModel model;
  ModelWatch watch(model);
  model.update(view_with_agents(3), kTestJob);
  RunView other;
  RunChanges changes;
  changes.agents = std::vector<AgentInfo>{{.number = 9, .agent_id = "else"}};
  other.apply(std::move(changes));
  model.update(other, kTestJob);
  EXPECT_EQ(watch.reset.size(), 1);
  EXPECT_EQ(model.rowCount(), 1);
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

// The number of signals is bounded, whatever the number of agents and changes.
TEST(AgentsModel, TenThousandAgentsTakeFewSignals) {
  constexpr std::int64_t kAgents = 10'000;
  RunView view = view_with_agents(kAgents);
  AgentsModel model;
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  model.update(view, kTestJob);
  EXPECT_EQ(inserted.size(), 1);
  std::vector<std::int64_t> every;
  std::vector<std::int64_t> every_third;
  for (std::int64_t i = 1; i <= kAgents; ++i) {
    every.push_back(i);
    if (i % 3 == 0) every_third.push_back(i);
  }
  report(view, 1, every);
  model.update(view, kTestJob);
  EXPECT_EQ(changed.size(), 1);
  changed.clear();
  report(view, 2, every_third);
  model.update(view, kTestJob);
  EXPECT_LE(changed.size(), static_cast<qsizetype>(ChangedRows::kStretchesMax));
  std::vector<bool> seen(kAgents);
  for (const auto& arguments : changed) {
    const int last = arguments[1].toModelIndex().row();
    for (int row = arguments[0].toModelIndex().row(); row <= last; ++row) {
      seen[static_cast<std::size_t>(row)] = true;
    }
  }
  for (const std::int64_t agent : every_third) {
    ASSERT_TRUE(seen[static_cast<std::size_t>(agent - 1)]) << agent;
  }
  EXPECT_EQ(reset.size() + inserted.size(), 1);
}

// Names come from agents and may be long, contain line breaks or look like rich text.
TEST(AgentsModel, HostileTextsStayInTheirCells) {
  std::vector<AgentInfo> agents;
  for (const std::string& text : hostile_texts()) {
    agents.push_back({.number = static_cast<std::int64_t>(agents.size()) + 1,
                      .agent_id = text + std::to_string(agents.size()),
                      .build = text,
                      .device = text});
  }
  const auto count = static_cast<int>(agents.size());
  RunView view;
  RunChanges changes;
  changes.agents = std::move(agents);
  view.apply(std::move(changes));
  AgentsModel model;
  ModelWatch watch(model);
  model.update(view, kTestJob);
  ASSERT_EQ(model.rowCount(), count);
  for (int row = 0; row < count; ++row) {
    EXPECT_LE(shown(model, row, "device").size(), kShownCharactersMax);
    EXPECT_FALSE(shown(model, row, "device").contains('\n'));
    const QModelIndex index = model.index(row, model.column_of("device"));
    EXPECT_FALSE(index.data(Qt::ToolTipRole).toString().contains("<img"));
  }
}

// --- events ------------------------------------------------------------------------------------

void add_events(RunView& view, std::int64_t first, std::int64_t last) {
  RunChanges changes;
  for (std::int64_t i = first; i <= last; ++i) {
    changes.events.push_back(some_event(i, LogLevel::info, "text " + std::to_string(i)));
  }
  view.apply(std::move(changes));
}

// The view keeps 100 events. Each update removes and inserts at most once, whatever the number of
// events.
TEST(EventsModel, NewOnesComeAtTheEndAndTheOldestGo) {
  RunView view({.events_max = 100});
  EventsModel model;
  ModelWatch watch(model);
  add_events(view, 1, 90);
  model.update(view);
  EXPECT_EQ(watch.inserted.size(), 1);
  EXPECT_EQ(model.rowCount(), 90);
  watch.clear();
  add_events(view, 91, 120);
  model.update(view);
  EXPECT_EQ(watch.removed.size(), 1);
  EXPECT_EQ(watch.inserted.size(), 1);
  EXPECT_EQ(watch.signals_seen(), 2);
  EXPECT_EQ(model.rowCount(), 100);
  EXPECT_EQ(model.event_at(0).number, 21);
  EXPECT_EQ(model.event_at(99).number, 120);
  watch.clear();
  model.update(view);
  EXPECT_EQ(watch.signals_seen(), 0);

  add_events(view, 1000, 1200);  // all earlier events have been dropped
  model.update(view);
  EXPECT_EQ(model.rowCount(), 100);
  EXPECT_EQ(model.event_at(0).number, 1101);
}

// Event numbers start at 1 again, so numbers alone cannot tell the two runs apart.
TEST(EventsModel, ARunThatBeginsAnewIsNotMixedWithTheOneBefore) {
  RunView view;
  EventsModel model;
  ModelWatch watch(model);
  add_events(view, 1, 10);
  model.update(view);
  RunChanges anew;
  anew.begins_anew = true;
  for (std::int64_t i = 1; i <= 20; ++i) {
    anew.events.push_back(some_event(i, LogLevel::error, "other"));
  }
  view.apply(std::move(anew));
  model.update(view);
  EXPECT_EQ(watch.reset.size(), 1);
  ASSERT_EQ(model.rowCount(), 20);
  EXPECT_EQ(shown(model, 0, "text"), "other");
  RunChanges empty;
  empty.begins_anew = true;
  view.apply(std::move(empty));
  model.update(view);
  EXPECT_EQ(model.rowCount(), 0);
}

// The bound of the view is 50,000 events. The sixth portion exceeds it and removes the oldest ones
// in one signal.
TEST(EventsModel, FiftyThousandInPortionsTakeASignalOrTwoEach) {
  RunView view;
  EventsModel model;
  QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  QSignalSpy removed(&model, &QAbstractItemModel::rowsRemoved);
  QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  constexpr std::int64_t kPortion = 10'000;
  for (std::int64_t first = 1; first <= 60'000; first += kPortion) {
    add_events(view, first, first + kPortion - 1);
    model.update(view);
  }
  EXPECT_EQ(model.rowCount(), 50'000);
  EXPECT_EQ(inserted.size(), 6);
  EXPECT_EQ(removed.size(), 1);
  EXPECT_EQ(reset.size(), 0);
  EXPECT_EQ(model.event_at(49'999).number, 60'000);
}

// The mark has a colour and the text has the level, so no reader needs the colour. Levels sort
// by severity, not by name.
TEST(EventsModel, SaysWhenAndHowGrave) {
  RunView view;
  RunChanges changes;
  changes.events = {some_event(1, LogLevel::warning, "w"), some_event(2, LogLevel::error, "e", 7)};
  view.apply(std::move(changes));
  EventsModel model;
  model.update(view);
  EXPECT_EQ(shown(model, 0, "level"), "warning");
  EXPECT_EQ(shown(model, 0, "round"), "");
  EXPECT_EQ(shown(model, 1, "round"), "7");
  EXPECT_EQ(shown(model, 0, "time"), text_of(Unit::wall_time, 1'700'000'001));
  const auto mark = [&](int row) { return model.mark(row, model.level_column()); };
  EXPECT_EQ(mark(0), CellMark::warning);
  EXPECT_EQ(mark(1), CellMark::error);
  EXPECT_LT(model.number(0, model.level_column()), model.number(1, model.level_column()));
}

// --- alternatives ------------------------------------------------------------------------------

// Three alternatives: neither Pareto nor chosen, chosen, and Pareto only.
RoundDetail some_detail() {
  RoundDetail detail;
  detail.alternatives = {{.codec = "fp32", .collective = "ring", .round_s = 4, .gain = 1},
                         {.codec = "thc:bits=4",
                          .collective = "star",
                          .ratio = 0.5,
                          .encode_s = 0.01,
                          .wire_s = 0.2,
                          .decode_s = 0.02,
                          .round_s = 0.5,
                          .gain = 0.9,
                          .pareto = true,
                          .chosen = true},
                         {.codec = "sign", .collective = "star", .round_s = 0.3, .pareto = true}};
  return detail;
}

// Another plan with the same alternatives changes rows in place; other alternatives reset the
// table.
TEST(AlternativesModel, MarksTheChoiceInWordsAndInColour) {
  RoundDetail detail = some_detail();
  AlternativesModel model;
  ModelWatch watch(model);
  model.update(detail);
  EXPECT_EQ(model.chosen_row(), 1);
  EXPECT_EQ(shown(model, 0, "choice"), "");
  EXPECT_EQ(shown(model, 1, "choice"), "● chosen");
  EXPECT_EQ(shown(model, 2, "choice"), "○ Pareto");
  EXPECT_EQ(model.mark(0, 0), CellMark::none);
  EXPECT_EQ(model.mark(1, 0), CellMark::chosen);
  EXPECT_EQ(model.mark(2, 0), CellMark::good);
  EXPECT_EQ(shown(model, 1, "gain"), "90.0 %");
  EXPECT_EQ(shown(model, 1, "encode"), "10.0 ms");
  watch.clear();
  detail.alternatives[2].chosen = true;
  detail.alternatives[1].chosen = false;
  model.update(detail);
  EXPECT_EQ(watch.changed.size(), 1) << "the same alternatives, in the same order";
  EXPECT_EQ(watch.reset.size(), 0);
  detail.alternatives = {{.codec = "other"}};
  model.update(detail);
  EXPECT_EQ(watch.reset.size(), 1);
  EXPECT_EQ(model.chosen_row(), -1);
}

}  // namespace
}  // namespace tributary::dashboard
