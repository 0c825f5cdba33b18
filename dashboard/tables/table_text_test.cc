// Tests of tables as CSV and as text for the clipboard.
#include "dashboard/tables/table_text.h"

#include <QFile>
#include <QTemporaryDir>

#include "dashboard/plot/plot_testing.h"
#include "dashboard/tables/cells/tables_testing.h"
#include "dashboard/tables/models/agents_model.h"
#include "dashboard/tables/models/events_model.h"

namespace tributary::dashboard {
namespace {

using tables_testing::some_event;

class TableTextTest : public testing::Test {
 protected:
  void feed(const std::vector<std::string>& texts) {
    RunChanges changes;
    for (const std::string& text : texts) {
      const auto number = static_cast<std::int64_t>(changes.events.size()) + 1;
      changes.events.push_back(some_event(number, LogLevel::warning, text, 5));
    }
    view_.apply(std::move(changes));
    events_.update(view_);
  }
  std::vector<int> columns(const std::vector<const char*>& keys) const {
    std::vector<int> out;
    for (const char* key : keys) out.push_back(events_.column_of(key));
    return out;
  }

  RunView view_;
  EventsModel events_;
  TableProxy proxy_{events_};
};

// RFC 4180: CRLF at the end of each line, and quotes around cells that have separators, quotes or
// line breaks.
TEST_F(TableTextTest, FollowsTheStandard) {
  feed({"plain", "a, b", "say \"hi\"", "two\r\nlines", "tab\there", "", " blanks ", "ü"});
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(table_text(proxy_, all, columns({"round", "text"})),
            QByteArray("Round,Text\r\n"
                       "5,plain\r\n"
                       "5,\"a, b\"\r\n"
                       "5,\"say \"\"hi\"\"\"\r\n"
                       "5,\"two\r\nlines\"\r\n"
                       "5,tab\there\r\n"
                       "5,\r\n"
                       "5, blanks \r\n"
                       "5,\xc3\xbc\r\n"));
}

// For the clipboard the separator is a tab, so a comma needs no quotes.
TEST_F(TableTextTest, WithTabsBetweenTabsAreQuoted) {
  feed({"a, b", "tab\there"});
  EXPECT_EQ(table_text(proxy_, {0, 1}, columns({"text", "level"}), '\t'),
            QByteArray("Text\tLevel\r\n"
                       "a, b\twarning\r\n"
                       "\"tab\there\"\twarning\r\n"));
}

// A file may be read in another time zone than it was written in.
TEST_F(TableTextTest, DatesAreInUtc) {
  feed({"x"});
  EXPECT_EQ(table_text(proxy_, {0}, columns({"time"})),
            QByteArray("Time (UTC)\r\n2023-11-14T22:13:21.000Z\r\n"));
}

// A program reads the file: no prefixes, no dash for unknown values, and no column for the curve.
TEST_F(TableTextTest, NumbersAreInBaseUnitsAndUnknownOnesEmpty) {
  RunChanges changes = tables_testing::some_job();
  changes.agents = tables_testing::some_agents(2);
  changes.reports = {tables_testing::some_report(1, 1, 0.1)};
  changes.links.push_back({"agent-1", "", 1, 0.0125, 1e-6});
  view_.apply(std::move(changes));
  AgentsModel agents;
  agents.update(view_, tables_testing::kTestJob);
  const TableProxy proxy(agents);
  std::vector<int> shown;
  for (const char* key : {"agent", "trend", "alpha_up", "rate_up", "round_time", "bytes_up"}) {
    shown.push_back(agents.column_of(key));
  }
  EXPECT_EQ(table_text(proxy, {0, 1}, shown),
            QByteArray("Agent,α up (s),Rate up (bit/s),Round time (s),Sent (B)\r\n"
                       "agent-1,0.0125,8000000,0.8,2048\r\n"
                       "agent-2,,,,\r\n"));
}

// "text:a" matches two of four rows.
TEST_F(TableTextTest, AFileHasTheRowsThatTheFilterLeavesInTheirOrder) {
  feed({"b", "a", "other", "a2"});
  proxy_.set_filter("text:a");
  proxy_.sort(events_.column_of("text"), Qt::DescendingOrder);
  const QTemporaryDir folder;
  const QString file = folder.filePath("events.csv");
  const Status written = write_table(proxy_, columns({"text"}), file);
  ASSERT_TRUE(written.ok()) << written.text();
  QFile in(file);
  ASSERT_TRUE(in.open(QIODevice::ReadOnly));
  EXPECT_EQ(in.readAll(), QByteArray("Text\r\na2\r\na\r\n"));
}

// With its path, because the user chose it in a dialog.
TEST_F(TableTextTest, AnUnwritableFileIsReported) {
  const Status written = write_table(proxy_, columns({"text"}), "/nowhere/at/all.csv");
  EXPECT_EQ(written.code(), StatusCode::io_error);
  EXPECT_NE(written.text().find("/nowhere/at/all.csv"), std::string::npos) << written.text();
}

// Reads each text back. Texts that are not UTF-8 are left out, because they are replaced when they
// are read.
TEST_F(TableTextTest, HostileTextsComeBackWhole) {
  std::vector<std::string> texts = tables_testing::hostile_texts();
  std::erase_if(texts,
                [](const std::string& text) { return text.find('\xff') != std::string::npos; });
  feed(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    QByteArray line = table_text(proxy_, {static_cast<int>(i)}, columns({"text"}));
    line = line.mid(QByteArray("Text\r\n").size());
    line.chop(2);
    if (line.startsWith('"')) line = line.mid(1, line.size() - 2).replace("\"\"", "\"");
    EXPECT_EQ(line.toStdString(), texts[i]);
  }
}

}  // namespace
}  // namespace tributary::dashboard
