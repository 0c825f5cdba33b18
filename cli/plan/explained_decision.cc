#include "cli/plan/explained_decision.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/text.h"
#include "core/run/units/quantity.h"

namespace tributary {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLinksShown = 8;       // of each kind
constexpr std::size_t kCandidatesShown = 8;  // in the text
constexpr double kFactorShown = 0.02;        // smallest error of the cost model that is listed

std::string believed_rate(double bits_per_s) {
  return quantity_text(Unit::bits_per_second, bits_per_s);
}
std::string short_time(double seconds) { return quantity_text(Unit::seconds, seconds); }
std::string factor_text(double factor) { return fmt::format("{:.3g}", factor); }

// A row with the median and the band.
template <class Text>
std::vector<std::string> band_row(std::string name, const BeliefBand& band, const Text& text) {
  return {std::move(name), text(band.median), text(band.low), text(band.high)};
}

std::string links_table(const ExplainedDecision& decision) {
  Table table({"link", "rate", "from", "to", "latency"});
  for (const BelievedLink& link : grouped_links(decision.belief.links, kLinksShown)) {
    const std::string name = printable(text_of(link));
    if (link.unlimited()) {
      table.add({name, "no limit", "", "", ""});
      continue;
    }
    std::vector<std::string> row = band_row(name, link.bits_per_s, believed_rate);
    row.push_back(link.alpha_s.median > 0 ? short_time(link.alpha_s.median) : "");
    table.add(std::move(row));
  }
  return table.text();
}

// Factors that are believed to be 1 say nothing, so they are left out.
std::string factors_table(const PlanExplanation& belief) {
  Table table({"factor", "median", "from", "to"});
  const auto add = [&](const std::string& what, const std::vector<BelievedFactor>& factors) {
    for (const BelievedFactor& one : factors) {
      const double off = std::max(one.factor.high - 1, 1 - one.factor.low);
      if (off < kFactorShown) continue;
      table.add(
          band_row(fmt::format("{} of {}", what, printable(one.name)), one.factor, factor_text));
    }
  };
  table.add(band_row("overhead of a round", belief.overhead_s, short_time));
  add("CPU time", belief.codec_times);
  add("payload size", belief.codec_sizes);
  add("exchange time", belief.collectives);
  return table.text();
}

std::vector<std::string> names_of(const std::vector<wire::Collective>& collectives) {
  std::vector<std::string> names;
  for (const wire::Collective kind : collectives)
    names.emplace_back(wire::EnumNameCollective(kind));
  return names;
}

// The limits of the job, if it has any.
std::string allowed_text(const PlanExplanation& belief) {
  std::string text;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (names.empty()) return;
    text += fmt::format("{} limited to {}\n", what,
                        printable(fmt::format("{}", fmt::join(names, ", "))));
  };
  add("codecs", belief.allowed_codecs);
  add("collectives", names_of(belief.allowed_collectives));
  return text;
}

std::string choice_name(const PlanChoice& choice) {
  return printable(
      fmt::format("{} by {}", choice.codec, wire::EnumNameCollective(choice.collective)));
}

std::string candidates_table(const PlanExplanation& belief) {
  Table table({"choice", "round", "from", "to", "gain", "value"});
  const std::size_t shown = std::min(kCandidatesShown, belief.candidates.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const BelievedChoice& candidate = belief.candidates[i];
    const char* const mark = candidate.chosen ? "* " : candidate.in_force ? "- " : "  ";
    std::vector<std::string> row =
        band_row(mark + choice_name(candidate.option.choice), candidate.round_s, short_time);
    row.push_back(quantity_text(Unit::share, candidate.option.cost.gain));
    row.push_back(candidate.value ? fmt::format("{:.2f}", *candidate.value) : "");
    table.add(std::move(row));
  }
  std::string text = table.text();
  if (belief.candidates.size() > shown) {
    text += fmt::format("and {} more (--json lists them)\n", belief.candidates.size() - shown);
  }
  return text;
}

std::string outcome_text(const ExplainedDecision& decision) {
  if (decision.measured_s.empty()) return "no round has been measured with it\n";
  const BeliefBand took = band_of(decision.measured_s);
  const BeliefBand& expected = decision.belief.candidates.front().round_s;
  return fmt::format("{} {} took {} in the median ({} to {}); {} was expected ({} to {})\n",
                     count_text(decision.measured_s.size()),
                     decision.measured_s.size() == 1 ? "round" : "rounds", short_time(took.median),
                     short_time(took.low), short_time(took.high), short_time(expected.median),
                     short_time(expected.low), short_time(expected.high));
}

std::string hindsight_text(const ExplainedDecision& decision) {
  if (!decision.hindsight) return fmt::format("no regret known: {}\n", decision.no_hindsight);
  const PlanHindsight& judged = *decision.hindsight;
  const std::string by = fmt::format("by the belief of round {}", decision.next_decision);
  if (judged.regret_s == 0) return fmt::format("no regret: it was the best choice {}\n", by);
  const auto rounds = static_cast<double>(decision.measured_s.size());
  return fmt::format(
      "regret {} per round, {} in all: {}, {} takes {} per round with {} of the update, and the "
      "choice {} with {}\n",
      short_time(judged.regret_s), short_time(judged.regret_s * rounds), by,
      choice_name(judged.best.choice), short_time(judged.best.cost.round_s),
      quantity_text(Unit::share, judged.best.cost.gain), short_time(judged.used.cost.round_s),
      quantity_text(Unit::share, judged.used.cost.gain));
}

Json band_json(const BeliefBand& band) {
  return {{"low", band.low}, {"median", band.median}, {"high", band.high}};
}

Json factors_json(const std::vector<BelievedFactor>& factors) {
  Json all = Json::array();
  for (const BelievedFactor& one : factors) {
    all.push_back({{"name", one.name}, {"factor", band_json(one.factor)}});
  }
  return all;
}

Json believed_choice_json(const PlanOption& option) {
  return {{"codec", option.choice.codec},
          {"collective", wire::EnumNameCollective(option.choice.collective)},
          {"ratio", option.choice.ratio},
          {"bucket_values", option.choice.bucket_values},
          {"gain", option.cost.gain}};
}

Json judged_json(const PlanOption& option) {
  Json json = believed_choice_json(option);
  json["round_s"] = option.cost.round_s;
  return json;
}

Json candidate_json(const BelievedChoice& candidate) {
  Json json = believed_choice_json(candidate.option);
  json["round_s"] = band_json(candidate.round_s);
  json["value"] = candidate.value ? Json(*candidate.value) : Json();
  json["chosen"] = candidate.chosen;
  json["in_force"] = candidate.in_force;
  return json;
}

Json hindsight_json(const ExplainedDecision& decision) {
  if (!decision.hindsight) return nullptr;
  const PlanHindsight& judged = *decision.hindsight;
  return {{"used", judged_json(judged.used)},
          {"best", judged_json(judged.best)},
          {"regret_s", judged.regret_s}};
}

}  // namespace

std::string explained_text(const ExplainedDecision& decision) {
  std::string text = fmt::format("job {}, round {}", printable(decision.job), decision.round);
  if (decision.decided_in != decision.round) {
    text += fmt::format(", as decided in round {}", decision.decided_in);
  }
  return text + fmt::format(
                    "\n{}\n{}\nbelieved (90 % sure from {} worlds)\n{}\n{}\n"
                    "candidates (* chosen, - in force before)\n{}\nwhat came of it\n{}{}",
                    printable(decision.reason), allowed_text(decision.belief),
                    decision.belief.worlds, links_table(decision), factors_table(decision.belief),
                    candidates_table(decision.belief), outcome_text(decision),
                    hindsight_text(decision));
}

Json explained_json(const ExplainedDecision& decision) {
  Json links = Json::array();
  for (const BelievedLink& link : decision.belief.links) {
    links.push_back({{"kind", name_of(link.kind)},
                     {"agent", link.agent},
                     {"bits_per_s", band_json(link.bits_per_s)},
                     {"alpha_s", band_json(link.alpha_s)}});
  }
  Json candidates = Json::array();
  for (const BelievedChoice& candidate : decision.belief.candidates) {
    candidates.push_back(candidate_json(candidate));
  }
  return {{"job", decision.job},
          {"round", decision.round},
          {"decided_in", decision.decided_in},
          {"trigger", decision.trigger},
          {"reason", decision.reason},
          {"allowed_codecs", decision.belief.allowed_codecs},
          {"allowed_collectives", names_of(decision.belief.allowed_collectives)},
          {"worlds", decision.belief.worlds},
          {"links", std::move(links)},
          {"overhead_s", band_json(decision.belief.overhead_s)},
          {"codec_times", factors_json(decision.belief.codec_times)},
          {"codec_sizes", factors_json(decision.belief.codec_sizes)},
          {"collectives", factors_json(decision.belief.collectives)},
          {"candidates", std::move(candidates)},
          {"measured_s", decision.measured_s},
          {"next_decision", decision.next_decision > 0 ? Json(decision.next_decision) : Json()},
          {"hindsight", hindsight_json(decision)},
          {"no_hindsight", decision.no_hindsight}};
}

}  // namespace tributary
