#include "core/net/shaped/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "core/base/blanks.h"
#include "core/base/files/file.h"

namespace tributary {
namespace {

using std::chrono::nanoseconds;

// One step per line: its duration, and rate, delay and loss in this time. Both directions share
// them. A rate of 0 means no limit.
constexpr std::size_t kColumns = 4;
constexpr std::string_view kTraceHeader = "seconds, mbit_per_s, delay_ms, loss_percent";

Status bad(std::size_t line, std::string expected, std::string_view got) {
  constexpr std::size_t kShown = 60;
  return Status(StatusCode::invalid_argument,
                {.what = line == 0 ? std::string("trace of a link")
                                   : fmt::format("trace of a link, line {}", line),
                 .expected = std::move(expected),
                 .got = fmt::format("'{}'", got.substr(0, kShown)),
                 .remedy = fmt::format("write one step per line: {}", kTraceHeader)});
}

struct Column {
  std::string_view name;
  double least;
  double most;
};
constexpr std::array<Column, kColumns> kLimits = {{{"seconds", 1e-3, 1e6},
                                                   {"mbit_per_s", 0, 1e6},
                                                   {"delay_ms", 0, 600'000},
                                                   {"loss_percent", 0, 100}}};

Result<double> number(std::size_t line, const Column& column, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value >= column.least && value <= column.most) return value;
  return bad(line, fmt::format("{} from {} to {}", column.name, column.least, column.most), text);
}

nanoseconds time_of(double seconds) {
  return nanoseconds(static_cast<nanoseconds::rep>(std::llround(seconds * 1e9)));
}

Result<TraceStep> parse_step(std::size_t line, std::string_view text) {
  std::array<double, kColumns> values{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (i + 1 == kColumns)) {
      return bad(line, fmt::format("{} numbers separated by commas", kColumns), text);
    }
    TRIBUTARY_ASSIGN(values[i], number(line, kLimits[i], without_blanks(rest.substr(0, comma))));
    rest.remove_prefix(std::min(comma, rest.size() - 1) + 1);
  }
  const double bytes_per_s = values[1] * 1e6 / 8;
  if (bytes_per_s > 0 && bytes_per_s < 1) return bad(line, "at least one byte per second", text);
  return TraceStep{.lasts = time_of(values[0]),
                   .bytes_per_s = static_cast<std::uint64_t>(bytes_per_s),
                   .delay = time_of(values[2] / 1e3),
                   .loss = values[3] / 100};
}

}  // namespace

// ends_[i] is the end of step i, so that at() finds a step by binary search.
LinkTrace::LinkTrace(std::vector<TraceStep> steps) : steps_(std::move(steps)) {
  nanoseconds end{0};
  for (const TraceStep& step : steps_) ends_.push_back(end += step.lasts);
}

Result<LinkTrace> LinkTrace::make(std::vector<TraceStep> steps) {
  if (steps.empty()) return bad(0, "at least one step", "");
  if (steps.size() > kStepsMax) {
    return bad(0, fmt::format("at most {} steps", kStepsMax), fmt::format("{}", steps.size()));
  }
  for (const TraceStep& step : steps) {
    if (step.lasts <= nanoseconds(0) || step.lasts > time_of(kLimits[0].most)) {
      return bad(0, "steps that last", fmt::format("{} ns", step.lasts.count()));
    }
  }
  return LinkTrace(std::move(steps));
}

Result<LinkTrace> LinkTrace::parse(std::string_view text) {
  std::vector<TraceStep> steps;
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view whole = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const std::string_view step = without_blanks(whole.substr(0, whole.find_first_of("#\n")));
    const bool header = steps.empty() && step.starts_with(kLimits[0].name);
    if (step.empty() || header) continue;
    if (steps.size() == kStepsMax) {
      return bad(line, fmt::format("at most {} steps", kStepsMax), step);
    }
    TRIBUTARY_ASSIGN(steps.emplace_back(), parse_step(line, step));
  }
  return make(std::move(steps));
}

Result<LinkTrace> LinkTrace::read(const std::string& path) {
  TRIBUTARY_ASSIGN(const Bytes text, read_file(path, kFileBytesMax));
  Result<LinkTrace> trace = parse({reinterpret_cast<const char*>(text.data()), text.size()});
  if (!trace.ok()) return std::move(trace).status().at(path);
  return trace;
}

// The trace repeats forever. A negative time counts as the beginning.
const TraceStep& LinkTrace::at(nanoseconds since_beginning) const {
  const nanoseconds into = since_beginning % lasts();
  const auto end = std::ranges::upper_bound(ends_, std::max(into, nanoseconds(0)));
  return steps_[static_cast<std::size_t>(end - ends_.begin())];
}

}  // namespace tributary
