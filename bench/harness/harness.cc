#include "bench/harness/harness.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace tributary::bench {
namespace {

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The fastest repetition has the highest rate, so the order of minimum and maximum is reversed.
Row row_of(const Case& one, std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return {.name = one.name,
          .median_bytes_per_s = one.bytes / seconds[seconds.size() / 2],
          .min_bytes_per_s = one.bytes / seconds.back(),
          .max_bytes_per_s = one.bytes / seconds.front(),
          .goals = one.goals,
          .unit = one.unit};
}

}  // namespace

// A function-local static: registrations run before main() in any order.
std::vector<Suite>& suites() {
  static std::vector<Suite> all;
  return all;
}

Registration::Registration(const Suite& suite) { suites().push_back(suite); }

Result<std::vector<Row>> run_suite(const Suite& suite, const Settings& settings) {
  const std::vector<Case> cases = suite.build(settings);
  for (const Case& one : cases) {
    one.run();  // also faults in the pages
    if (Status status = one.check(); !status.ok()) return std::move(status).at(one.name);
  }
  std::vector<std::vector<double>> seconds(cases.size());
  for (std::uint32_t repetition = 0; repetition < settings.repetitions; ++repetition) {
    for (std::size_t i = 0; i < cases.size(); ++i) seconds[i].push_back(seconds_of(cases[i].run));
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) rows.push_back(row_of(cases[i], seconds[i]));
  return rows;
}

const Row& row_named(const std::vector<Row>& rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.name == name) return row;
  }
  std::fprintf(stderr, "benchmark: a goal names '%.*s', which the suite does not have\n",
               static_cast<int>(name.size()), name.data());
  std::abort();
}

}  // namespace tributary::bench
