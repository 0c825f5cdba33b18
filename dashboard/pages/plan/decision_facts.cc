#include "dashboard/pages/plan/decision_facts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dashboard/pages/common/texts.h"
#include "dashboard/plot/data/quantity.h"

namespace tributary::dashboard {
namespace {

// Bounds the work for a decision that has held for very many rounds.
constexpr std::size_t kMedianRoundsMax = 10'000;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

QString compared(double times) {
  if (!std::isfinite(times)) return "no comparison";
  if (times >= 2) return text_of(Unit::one, std::round(times * 10) / 10) + " times as long";
  return text_of(Unit::share, std::fabs(times - 1)) + (times < 1 ? " less" : " more");
}

}  // namespace

DecisionFacts decision_facts(const RoundTable& table, std::size_t row) {
  const std::size_t decided = decided_in(table, row);
  const auto took = [&](std::size_t at) {
    return table.columns.ended_s[at] - table.columns.began_s[at];
  };
  const Choice choice = {.codec = table.columns.codec[row],
                         .collective = table.columns.collective[row],
                         .ratio = table.columns.ratio[row]};
  const bool planned = choice.codec != 0 || choice.collective != 0;
  DecisionFacts facts = {
      .round = table.columns.round[row],
      .decided_in = table.columns.round[decided],
      .choice = planned ? choice_text(table, choice) : QString(),
      .trigger = words_of(table.names.triggers.name(table.columns.trigger[decided])),
      .predicted_s = table.columns.predicted_s[row],
      .measured_s = took(row)};
  std::vector<double> seconds;
  for (std::size_t later = decided; later < table.size() && seconds.size() < kMedianRoundsMax;
       ++later) {
    if (later > decided && decides(table, later)) break;
    seconds.push_back(took(later));
  }
  facts.rounds = seconds.size();
  facts.median_s = median_of(std::move(seconds));
  return facts;
}

QString decision_heading(const DecisionFacts& facts) {
  QString heading = QString("Round %1").arg(facts.round);
  if (!facts.choice.isEmpty()) heading += ": " + facts.choice;
  if (facts.decided_in != facts.round) {
    heading += QString(", as decided in round %1").arg(facts.decided_in);
  }
  const bool has_trigger = !facts.trigger.isEmpty() && facts.trigger != "unchanged";
  return has_trigger ? heading + " (" + facts.trigger + ')' : heading;
}

QString decision_times(const DecisionFacts& facts) {
  const QString took = text_of(Unit::seconds, facts.measured_s);
  QString text;
  if (std::isfinite(facts.predicted_s)) {
    text = QString("Predicted %1, took %2 (%3)")
               .arg(text_of(Unit::seconds, facts.predicted_s), took,
                    compared(facts.measured_s / facts.predicted_s));
  } else {
    text = QString("Took %1; no prediction").arg(took);
  }
  if (facts.rounds < 2) return text + '.';
  return text + QString(". Median of the %1 rounds since the decision: %2.")
                    .arg(grouped(facts.rounds), text_of(Unit::seconds, facts.median_s));
}

QString decision_sentence(const RoundDetail& detail) {
  if (!detail.planned) {
    return "This build cannot read the round's plan: the file has none, or a newer build "
           "wrote it. "
           "Open the run with that build.";
  }
  if (detail.alternatives.size() > 1) return plain_text(detail.sentence);
  const QString sentence = detail.sentence.empty() ? QString() : plain_text(detail.sentence) + ". ";
  return sentence +
         "This plan has no alternatives: the job fixes codec and collective "
         "(planning = \"fixed\"), or the planner had not decided yet. With planning = \"adaptive\" "
         "the "
         "planner decides.";
}

}  // namespace tributary::dashboard
