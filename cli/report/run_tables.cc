#include "cli/report/run_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tributary::report {
namespace {

// As many digits as restore the number exactly. NaN and infinity become an empty field.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

// Seconds are written in whole microseconds; further digits are noise of the clock.
std::string seconds(double value) {
  return std::isfinite(value) ? fmt::format("{:.6f}", value) : std::string();
}

// RFC 4180: a quote within a quoted text is doubled.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

// Scripts refer to columns by name, so names stay and new columns are added.
std::string rounds_csv(const RunData& data) {
  std::string out =
      "round,attempt,began_s,ended_s,seconds,members,asked,contributors,bytes_up,bytes_down,"
      "dense_bytes_up,dense_bytes_down,codecs,collectives,ratio,trigger,sentence,reports,"
      "train_loss,compute_s,encode_s,wait_s,model_hash\n";
  for (const RoundRow& row : data.rounds) {
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:016x}\n", row.round,
        row.attempt, seconds(row.began_s), seconds(row.ended_s), seconds(row.seconds()),
        row.members, row.asked, row.contributors, row.bytes_up, row.bytes_down,
        number(row.dense_bytes_up), number(row.dense_bytes_down), quoted(row.codecs()),
        quoted(row.collectives()), number(row.ratio()), row.trigger, quoted(row.sentence),
        row.reports, number(row.train_loss), seconds(row.compute_s), seconds(row.encode_s),
        seconds(row.wait_s), row.model_hash);
  }
  return out;
}

std::string metrics_csv(const RunData& data) {
  std::string out = "name,round,time_s,agent,value\n";
  for (const MetricRow& row : data.metrics) {
    out += fmt::format("{},{},{},{},{}\n", quoted(row.name), row.round, seconds(row.time_s),
                       quoted(row.agent_id), number(row.value));
  }
  return out;
}

std::string switches_csv(const RunFigures& figures) {
  std::string out = "number,round,time_s,from,to,trigger,sentence\n";
  for (std::size_t i = 0; i < figures.switches.size(); ++i) {
    const Switch& each = figures.switches[i];
    out += fmt::format("{},{},{},{},{},{},{}\n", i + 1, each.round, seconds(each.at_s),
                       quoted(each.from), quoted(each.to), each.trigger, quoted(each.sentence));
  }
  return out;
}

}  // namespace tributary::report
