// A harness for benchmarks. Every case checks its answer before it is timed. All cases of a suite
// alternate within one run, so that disturbances affect all of them. The result is the median and
// its ratio to another case of the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary::bench {

// A required ratio to another case of the same run.
struct Goal {
  std::string peer;
  double ratio_min = 0;
};

// The unit of a case: its name, and its size in the counted items.
struct Unit {
  std::string_view name = "GB/s";
  double size = 1e9;
};

// One measurement of a suite. `run` is timed; `check` is not.
struct Case {
  std::string name;
  double bytes = 0;  // handled by one call of `run`, or the number of items that `unit` counts
  std::function<void()> run;
  std::function<Status()> check;  // after a call of `run`: checks the answer
  std::vector<Goal> goals = {};
  Unit unit = {};
};

// Options of the program that apply to all suites.
struct Settings {
  std::uint64_t bucket_bytes = 64u << 20;
  std::uint32_t repetitions = 11;
};

// A named list of cases. `build` allocates data of the size in the settings.
struct Suite {
  std::string_view name;
  std::string_view about;
  std::vector<Case> (*build)(const Settings& settings);
};

// Adds a suite to the program's list: `static const Registration r({...})` in an x_bench.cc.
struct Registration {
  explicit Registration(const Suite& suite);
};
// All registered suites, in no particular order.
std::vector<Suite>& suites();

// The result of a case: rates over all repetitions.
struct Row {
  std::string name;
  double median_bytes_per_s = 0;
  double min_bytes_per_s = 0;
  double max_bytes_per_s = 0;
  std::vector<Goal> goals;
  Unit unit = {};
};

// Checks all cases, then times them on the caller's thread. A wrong answer is an error that names
// the case.
Result<std::vector<Row>> run_suite(const Suite& suite, const Settings& settings);

// The row with this name. A missing name is an error in the benchmark and ends the program.
const Row& row_named(const std::vector<Row>& rows, std::string_view name);

}  // namespace tributary::bench
