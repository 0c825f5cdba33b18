// usage: tributary-bench [--json] [--bytes N] [--repetitions N] [SUITE...]
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

#include "bench/harness/harness.h"
#include "core/base/nearest.h"

namespace tributary::bench {
namespace {

constexpr const char* kUsage =
    "usage: tributary-bench [--json] [--bytes N] [--repetitions N] [SUITE...]\n"
    "\n"
    "Runs the named suites, or all. 'codec' also selects every 'codec.x'. Each case checks its\n"
    "result first. Figures are medians in GB/s of float32; ratios are to a peer in the same run.\n"
    "\n"
    "  --bytes N         float32 bytes in a bucket (default 67108864)\n"
    "  --repetitions N   timed calls of every case (default 11)\n"
    "  --json            one JSON object per suite\n"
    "\n"
    "suites:\n";

struct Arguments {
  Settings settings;
  bool json = false;
  bool help = false;
  std::vector<std::string_view> names;
  std::string error;
};

// Parses an option's number and reports an error by `error`.
std::uint64_t number(std::string_view text, std::uint64_t low, std::uint64_t high,
                     std::string& error) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size() && value >= low && value <= high) {
    return value;
  }
  error = fmt::format("expected a number from {} to {}, got '{}'", low, high, text);
  return low;
}

// The name "codec" selects the suites "codec" and "codec.thc".
bool belongs(std::string_view suite, std::string_view name) {
  return suite == name || (suite.starts_with(name) && suite[name.size()] == '.');
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    if (arg == "--json") {
      out.json = true;
    } else if (arg == "--help" || arg == "-h") {
      out.help = true;
    } else if (arg == "--bytes") {
      out.settings.bucket_bytes = number(next, 4096, 1u << 28, out.error) / 4096 * 4096;
      ++i;
    } else if (arg == "--repetitions") {
      out.settings.repetitions = static_cast<std::uint32_t>(number(next, 1, 1000, out.error));
      ++i;
    } else if (arg.starts_with("-")) {
      constexpr std::string_view kOptions[] = {"--json", "--bytes", "--repetitions", "--help"};
      out.error = fmt::format("unknown option '{}'; {}", arg, did_you_mean(arg, kOptions));
    } else {
      out.names.push_back(arg);
    }
  }
  std::vector<std::string_view> known;
  for (const Suite& suite : suites()) known.push_back(suite.name);
  for (const std::string_view name : out.names) {
    if (std::ranges::any_of(known, [&](std::string_view suite) { return belongs(suite, name); })) {
      continue;
    }
    out.error = fmt::format("unknown suite '{}'; {}", name, did_you_mean(name, known));
  }
  return out;
}

// True if the median is at least the required multiple of the peer's median.
bool reached(const std::vector<Row>& rows, const Row& row, const Goal& goal) {
  return row.median_bytes_per_s >= goal.ratio_min * row_named(rows, goal.peer).median_bytes_per_s;
}

void print_table(const Suite& suite, const std::vector<Row>& rows) {
  fmt::print("{}: {}\n\n{:<40} {:>8} {:>8} {:>8}  {}\n", suite.name, suite.about, "case", "GB/s",
             "min", "max", "against its peers");
  for (const Row& row : rows) {
    fmt::print("{:<40} {:>8.2f} {:>8.2f} {:>8.2f}  ", row.name,
               row.median_bytes_per_s / row.unit.size, row.min_bytes_per_s / row.unit.size,
               row.max_bytes_per_s / row.unit.size);
    if (row.unit.name != Unit().name) fmt::print("{}  ", row.unit.name);
    for (const Goal& goal : row.goals) {
      const double ratio = row.median_bytes_per_s / row_named(rows, goal.peer).median_bytes_per_s;
      fmt::print("{:.2f} x {}", ratio, goal.peer);
      if (goal.ratio_min > 0) {
        fmt::print(" (at least {}: {})", goal.ratio_min,
                   reached(rows, row, goal) ? "reached" : "MISSED");
      }
      fmt::print("  ");
    }
    fmt::print("\n");
  }
  fmt::print("\n");
}

void print_json(const Suite& suite, const std::vector<Row>& rows) {
  fmt::print("{{\"schema_version\":1,\"status\":\"ok\",\"data\":{{\"suite\":\"{}\",\"rows\":[",
             suite.name);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fmt::print(
        "{}{{\"name\":\"{}\",\"bytes_per_s\":{:.0f},\"min\":{:.0f},\"max\":{:.0f},\"goals\":[",
        i == 0 ? "" : ",", rows[i].name, rows[i].median_bytes_per_s, rows[i].min_bytes_per_s,
        rows[i].max_bytes_per_s);
    for (std::size_t g = 0; g < rows[i].goals.size(); ++g) {
      const Goal& goal = rows[i].goals[g];
      fmt::print("{}{{\"peer\":\"{}\",\"ratio\":{:.4f},\"at_least\":{},\"reached\":{}}}",
                 g == 0 ? "" : ",", goal.peer,
                 rows[i].median_bytes_per_s / row_named(rows, goal.peer).median_bytes_per_s,
                 goal.ratio_min, reached(rows, rows[i], goal));
    }
    fmt::print("]}}");
  }
  fmt::print("]}}}}\n");
}

int run(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.help || !arguments.error.empty()) {
    std::FILE* const out = arguments.help ? stdout : stderr;
    if (!arguments.error.empty()) fmt::print(out, "tributary-bench: {}\n\n", arguments.error);
    fmt::print(out, "{}", kUsage);
    for (const Suite& suite : suites()) fmt::print(out, "  {:<12} {}\n", suite.name, suite.about);
    return arguments.help ? 0 : 2;
  }
  for (const Suite& suite : suites()) {
    const auto& names = arguments.names;
    if (!names.empty() && std::ranges::none_of(names, [&](std::string_view name) {
          return belongs(suite.name, name);
        })) {
      continue;
    }
    const Result<std::vector<Row>> rows = run_suite(suite, arguments.settings);
    if (!rows.ok()) {
      fmt::print(stderr, "tributary-bench: {}: {}\n", suite.name, rows.status().text());
      return 1;
    }
    if (arguments.json) {
      print_json(suite, *rows);
    } else {
      print_table(suite, *rows);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
