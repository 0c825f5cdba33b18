// Commands that read a run whose newest rounds are still beside its file: each says so.
#include <gmock/gmock.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/end_to_end/program_testing.h"
#include "core/plan/inputs/inputs_testing.h"
#include "core/plan/inputs_text.h"
#include "core/run/run_testing.h"
#include "core/store/coordinator/missing_rounds.h"
#include "core/store/coordinator/recent/recent_rounds.h"

namespace tributary {
namespace {

using Json = nlohmann::json;
using program_testing::Outcome;
using program_testing::run;
using run_testing::kJob;
using run_testing::RunWriter;
using testing::HasSubstr;
using testing::Not;

class MissingRoundsInAnswers : public program_testing::ProgramTest {
 protected:
  std::string run_db() const { return path("run.db"); }

  // The commands that read the rounds or the readings of a run.
  std::vector<std::vector<std::string>> readers() const {
    return {{"plan", "explain", run_db()},
            {"plan", "replay", run_db()},
            {"link", "list", "--run", run_db()},
            {"job", "list", "--run", run_db()},
            {"job", "show", "digits", "--run", run_db()},
            {"job", "watch", "digits", "--run", run_db()},
            {"report", "--run", run_db(), "--out", path("report")}};
  }
  void expect_all(std::uint64_t beside) const {
    for (std::vector<std::string> reader : readers()) {
      SCOPED_TRACE(reader[0] + " " + reader[1]);
      reader.emplace_back("--json");
      const Json data = Json::parse(run(reader).out)["data"];
      EXPECT_EQ(data["rounds_beside"], beside);
      EXPECT_EQ(data["log_missing"], false);
    }
  }
  void expect_all_end_with(const std::string& sentence) const {
    for (const std::vector<std::string>& reader : readers()) {
      SCOPED_TRACE(reader[0] + " " + reader[1]);
      const Outcome text = run(reader);
      EXPECT_THAT(text.code, testing::AnyOf(0, kDecisionDiffers)) << text.err;
      EXPECT_TRUE(text.out.ends_with(sentence + "\n")) << text.out;
    }
  }

  static constexpr int kDecisionDiffers = 60;  // of `plan replay`, here without real inputs
};

TEST_F(MissingRoundsInAnswers, EachReaderNamesThem) {
  RunWriter writer(run_db());
  writer.job();
  PlanInputs inputs = plan_testing::federation(100, 10);
  plan_testing::believe_uplinks(inputs, 1, 8);
  writer.round(1, {.codec = "fp32", .decided = true, .inputs = text_of(inputs)});
  // Otherwise `job watch` waits for its end.
  JobRecord over;
  over.job = kJob;
  over.state = wire::JobState::stopped;
  over.definition = run_testing::definition("digits");
  writer.store(over);
  expect_all(0);

  RecentRounds recent(writer.journal(), CoordinatorJournalOptions{.journal = {.path = run_db()}});
  for (std::uint64_t number = 2; number <= 4; ++number) {
    CommitRecord commit;
    commit.round.id = {kJob, number, 1, 0};
    commit.redo.push_back({.payload = std::make_shared<Bytes>(3'000)});
    ASSERT_EQ(recent.store(commit).text(), "ok");
  }
  MissingRounds missing;
  missing.beside = 3;
  expect_all(3);
  expect_all_end_with(missing.text(run_db()));
  const Outcome watch = run({"job", "watch", "digits", "--run", run_db()});
  EXPECT_THAT(watch.err, HasSubstr(missing.text(run_db()))) << "while it waits";
  const Outcome later = run({"plan", "explain", run_db(), "--round", "3"});
  EXPECT_EQ(later.code, 21);
  EXPECT_THAT(later.err, HasSubstr(missing.text(run_db())));

  ASSERT_EQ(recent.move().text(), "ok");
  expect_all(0);
  EXPECT_THAT(run(readers().front()).out, Not(HasSubstr("missing")));
}

}  // namespace
}  // namespace tributary
