// Measures the time to open the file of a long run and the time of a repaint.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "bench/harness/harness.h"
#include "core/base/clock.h"
#include "core/run/big_run_testing.h"
#include "core/run/run_follower.h"
#include "core/run/view/run_view.h"
#include "core/store/testing/folder_testing.h"

namespace tributary::dashboard {
namespace {

using bench::Case;

constexpr bench::Unit kPerSecond = {.name = "times/s", .size = 1};

Status expect_number(std::string_view what, std::uint64_t expected, std::uint64_t got) {
  if (expected == got) return {};
  return Status(StatusCode::mismatch, {.what = std::string(what),
                                       .expected = fmt::format("{}", expected),
                                       .got = fmt::format("{}", got)});
}

// Written once, before the measurement.
struct LongRun {
  store_testing::Folder folder;
  std::string path = folder / "run.db";
  run_testing::BigRun size = {};
  Status written = run_testing::BigRunWriter(size).write(path);
};

// Reads the whole file into a view.
class Opening {
 public:
  Opening(std::shared_ptr<LongRun> run, bool all) : run_(std::move(run)), all_(all) {}

  void run() {
    view_.emplace();
    RunFollower follower({.path = run_->path}, clock_);
    for (;;) {
      RunChanges changes;
      const Result<bool> more = follower.step(changes);
      view_->apply(std::move(changes));
      status_ = more.status();
      if (!more.ok() || !*more || (!all_ && view_->overview_read())) return;
    }
  }

  Status check() const {
    TRIBUTARY_TRY(run_->written);
    TRIBUTARY_TRY(status_);
    const RoundTable* const rounds = view_->rounds(run_testing::kJob);
    TRIBUTARY_TRY(expect_number("rounds", run_->size.rounds, rounds ? rounds->size() : 0));
    const MetricCurve* const accuracy = view_->metric(run_testing::kJob, kAccuracyMetric, "");
    TRIBUTARY_TRY(expect_number("evaluations", run_->size.rounds,
                                accuracy ? accuracy->curve.over_rounds->size() : 0));
    if (!all_) return {};
    TRIBUTARY_TRY(expect_number("agents", run_->size.agents, view_->agents().size()));
    return expect_number("reports", run_->size.reports_max / run_->size.agents,
                         view_->agents().front().reports);
  }

 private:
  std::shared_ptr<LongRun> run_;
  bool all_;
  SystemClock clock_;
  std::optional<RunView> view_;
  Status status_;
};

// Draws one curve over all pixel columns.
class Drawing {
 public:
  explicit Drawing(std::size_t samples) : series_(samples) {
    for (std::size_t i = 0; i < samples; ++i) {
      const auto x = static_cast<double>(i);
      series_.append({x, std::sin(x / 1000) + std::sin(x * 0.7)});
    }
    for (int border = 0; border <= kColumns; ++border) {
      borders_.push_back(static_cast<double>(samples) * border / kColumns);
    }
  }

  void run() { series_.draw(borders_, drawn_); }
  // A column has its first, lowest, highest and last sample.
  Status check() const {
    const bool fine =
        drawn_.size() > std::size_t{2} * kColumns && drawn_.size() <= std::size_t{4} * kColumns + 2;
    return fine ? Status() : expect_number("samples drawn", 4 * kColumns, drawn_.size());
  }

 private:
  static constexpr int kColumns = 1200;
  Series series_;
  std::vector<double> borders_;
  std::vector<Sample> drawn_;
};

template <typename Work>
Case dashboard_case(const char* name, std::shared_ptr<Work> work) {
  return {.name = name,
          .bytes = 1,
          .run = [work] { work->run(); },
          .check = [work] { return work->check(); },
          .goals = {},
          .unit = kPerSecond};
}

std::vector<Case> dashboard_cases(const bench::Settings&) {
  const auto run = std::make_shared<LongRun>();
  return {
      dashboard_case("open 100000 rounds, first picture", std::make_shared<Opening>(run, false)),
      dashboard_case("open 100000 rounds, everything", std::make_shared<Opening>(run, true)),
      dashboard_case("draw 100000 samples", std::make_shared<Drawing>(100'000)),
      dashboard_case("draw 1000000 samples", std::make_shared<Drawing>(1'000'000))};
}

const bench::Registration dashboard_suite(
    {"dashboard", "the file of a run of 100,000 rounds and 32 agents, and one curve of 1200 pixels",
     dashboard_cases});

}  // namespace
}  // namespace tributary::dashboard
