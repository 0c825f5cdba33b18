// Benchmarks that can be trusted a little: every case checks its answer before it is timed, all
// cases of a suite take turns within one run (so that a noisy neighbour hits them all), and what
// counts is the median and its ratio to a peer measured beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary::bench {

// What a case has to reach, as a multiple of another case of the same run.
struct Goal {
  std::string peer;
  double ratio_min = 0;
};

// What a case counts, and how many of it make one in the table.
struct Unit {
  std::string_view name = "GB/s";
  double size = 1e9;
};

struct Case {
  std::string name;
  double bytes = 0;  // that one call of `run` handles; or whatever `unit` counts
  std::function<void()> run;
  std::function<Status()> check;  // after a call of `run`: is the answer right?
  std::vector<Goal> goals = {};
  Unit unit = {};
};

struct Settings {
  std::uint64_t bucket_bytes = 64u << 20;
  std::uint32_t repetitions = 11;
};

// A named list of cases; `build` may make its data as large as the settings say.
struct Suite {
  std::string_view name;
  std::string_view about;
  std::vector<Case> (*build)(const Settings& settings);
};

// Puts a suite on the program's list: `static const Registration r({...})` in an x_bench.cc.
struct Registration {
  explicit Registration(const Suite& suite);
};
std::vector<Suite>& suites();

struct Row {
  std::string name;
  double median_bytes_per_s = 0;
  double min_bytes_per_s = 0;
  double max_bytes_per_s = 0;
  std::vector<Goal> goals;
  Unit unit = {};
};

// Checks, then times. An answer that is wrong is an error that names the case.
Result<std::vector<Row>> run_suite(const Suite& suite, const Settings& settings);

// The row of that name; there is one, or the benchmark is wrong.
const Row& row_named(const std::vector<Row>& rows, std::string_view name);

}  // namespace tributary::bench
