// The report of a run of real processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Report : public testing::Test {
 protected:
  static void make(Federation& federation) {
    Process report({TRIBUTARY_CLI, "report", "--run", federation.path("coordinator.db"), "--out",
                    federation.path("report")},
                   federation.path("report.log"));
    ASSERT_EQ(report.wait(), 0) << read(federation.path("report.log"));
  }

  // Parses the output with an independent XML parser.
  static void expect_xml(Federation& federation) {
    std::vector<std::string> command = {"/usr/bin/env", "python3", "-c",
                                        "import sys, xml.etree.ElementTree as t\n"
                                        "for p in sys.argv[1:]: t.parse(p)"};
    for (const auto& entry : std::filesystem::directory_iterator(federation.path("report"))) {
      if (entry.path().extension() != ".csv") command.push_back(entry.path().string());
    }
    ASSERT_GE(command.size(), 4u + 5);
    Process python(command, federation.path("xml.log"));
    EXPECT_EQ(python.wait(), 0) << read(federation.path("xml.log"));
  }
};

TEST_F(Report, MatchesTheJournalOfTheFederation) {
  Federation federation({.agents = 2, .rounds = 12, .codec = "int8"});
  federation.start_all();
  federation.expect_all_end();
  make(federation);
  expect_xml(federation);
  const std::string page = read(federation.path("report/report.html"));
  EXPECT_NE(page.find("12 of 12"), std::string::npos);
  EXPECT_NE(page.find("Replicas identical</div><div class=\"value\">yes"), std::string::npos);
  EXPECT_NE(page.find("int8"), std::string::npos);

  const auto file = RunFile::open(federation.path("coordinator.db"));
  ASSERT_TRUE(file.ok()) << file.status().text();
  const auto jobs = (*file)->jobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status().text();
  const auto rounds = (*file)->rounds(jobs->front().job, 1, 12);
  ASSERT_TRUE(rounds.ok()) << rounds.status().text();
  ASSERT_EQ(rounds->size(), 12u);
  const std::string table = read(federation.path("report/rounds.csv"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 13);
  for (const RoundRecord& round : *rounds) {
    EXPECT_GT(round.bytes_up, 2u * 10'000) << "a byte for each value of each agent";
    EXPECT_NE(table.find("," + std::to_string(round.bytes_up) + "," +
                         std::to_string(round.bytes_down) + ",80000,80000,"),
              std::string::npos)
        << "round " << round.id.round;
  }
}

TEST_F(Report, IsMadeWhileTheCoordinatorRuns) {
  Federation federation({.agents = 1, .rounds = 500, .agent_settings = {"trainer.train_ms=20"}});
  federation.start_all();
  ASSERT_TRUE(federation.committed(3));
  make(federation);
  expect_xml(federation);
  EXPECT_NE(read(federation.path("report/report.html")).find("running"), std::string::npos);
}

}  // namespace
}  // namespace tributary::end_to_end
