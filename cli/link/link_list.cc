// tributary link list: prints the measured links. Reads the journal, whether the coordinator runs
// or not.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/run/job_journal.h"
#include "cli/run/missing_in_answer.h"
#include "cli/text.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

// Rows read at a time.
constexpr std::uint32_t kPage = 4096;

// One measured quantity of a link; NaN: not measured.
struct Figure {
  double value = NAN;
  double confidence = NAN;  // at the time of the measurement, 0 to 1
  double age_s = NAN;       // since the measurement, in s
  wire::LinkMethod method = wire::LinkMethod::unspecified;
};
// The two directions between two ends are separate links.
struct Link {
  Figure alpha_s;
  Figure beta_s_per_byte;
};
using Links = std::map<std::pair<std::string, std::string>, Link>;

// Ages are by the wall clock, because the journal has no other time that both processes share.
std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Returns the newest value of each figure. Rows are read in the order in which they were written.
Result<Links> newest_links(RunFile& run) {
  Links links;
  const std::int64_t now = wall_ns();
  for (std::int64_t after = 0;;) {
    TRIBUTARY_ASSIGN(const std::vector<StoredLinkSample> page, run.link_samples(after, kPage));
    if (page.empty()) return links;
    after = page.back().number;
    for (const StoredLinkSample& stored : page) {
      const LinkSampleRecord& sample = stored.sample;
      Link& link = links[{sample.from, sample.to}];
      const auto take = [&](Figure& figure, double value) {
        // A sample may contain only one of the two figures.
        if (!std::isfinite(value)) return;
        figure = {.value = value,
                  .confidence = sample.confidence,
                  .age_s = std::max(static_cast<double>(now - sample.at_wall_ns) / 1e9, 0.0),
                  .method = sample.method};
      };
      take(link.alpha_s, sample.alpha_s);
      take(link.beta_s_per_byte, sample.beta_s_per_byte);
    }
  }
}

std::string end_text(const std::string& agent_id) {
  return agent_id.empty() ? "coordinator" : printable(agent_id);
}

// A dash stands for a quantity that was not measured.
std::string known_text(const Figure& figure, const std::string& value) {
  return std::isnan(figure.value) ? "-" : value;
}

// 8 bits per byte and 10^6 bits per Mbit: 8e-6 converts s/byte.
std::string bits_text(double beta_s_per_byte) {
  return fmt::format("{:.2f} Mbit/s", 8e-6 / beta_s_per_byte);
}

// Null for a quantity that was not measured.
Json json_of(const Figure& figure) {
  if (std::isnan(figure.value)) return Json();
  return {{"value", figure.value},
          {"confidence", figure.confidence},
          {"age_s", figure.age_s},
          {"method", wire::EnumNameLinkMethod(figure.method)}};
}

Result<Answer> list(const std::string& run_file) {
  TRIBUTARY_ASSIGN(const auto run, RunFile::open(run_file));
  TRIBUTARY_ASSIGN(const MissingRounds missing, run->missing());
  TRIBUTARY_ASSIGN(const Links links, newest_links(*run));
  Table table({"from", "to", "latency", "sure", "age", "rate", "sure", "age"});
  Json all = Json::array();
  for (const auto& [ends, link] : links) {
    // Each of the two figures has its own confidence and age.
    const Figure& alpha = link.alpha_s;
    const Figure& beta = link.beta_s_per_byte;
    table.add(
        {end_text(ends.first), end_text(ends.second), known_text(alpha, seconds_text(alpha.value)),
         known_text(alpha, fmt::format("{:.2f}", alpha.confidence)),
         known_text(alpha, seconds_text(alpha.age_s)), known_text(beta, bits_text(beta.value)),
         known_text(beta, fmt::format("{:.2f}", beta.confidence)),
         known_text(beta, seconds_text(beta.age_s))});
    all.push_back({{"from", ends.first},
                   {"to", ends.second},
                   {"alpha_s", json_of(alpha)},
                   {"beta_s_per_byte", json_of(beta)}});
  }
  Answer answer;
  answer.text = links.empty() ? "no link has been measured\n" : table.text();
  answer.text += missing_line(missing, run_file);
  Json data = {{"links", std::move(all)}};
  add_missing(missing, data);
  answer.data = json_text(data);
  return answer;
}

}  // namespace

Command link_list_command() {
  const auto run_file = std::make_shared<std::string>(usual_run_file());
  return {
      .noun = "link",
      .verb = "list",
      .summary = "print latency and rate of every link, with confidence and age",
      .details =
          "Reads the journal, whether the coordinator runs or not. In JSON an empty end is the\n"
          "coordinator. Two agents have a link if they exchange data directly.\n\n"
          "examples:\n"
          "  tributary link list\n"
          "  tributary link list --run coordinator.db --json",
      .options = {run_option(*run_file)},
      .run = [run_file](World&) { return list(*run_file); }};
}

}  // namespace tributary
