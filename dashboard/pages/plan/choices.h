// The planner's choices of a job, round by round, as bands, tables and charts show them.
//
// Pure functions over a RoundTable, without widgets. "Row" is always a row of that table.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/run/view/round_table.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

// Consecutive rows with the same codec, collective and ratio.
struct Choice {
  std::size_t first_row = 0;
  std::size_t last_row = 0;
  std::uint16_t codec = 0;
  std::uint16_t collective = 0;
  double ratio = std::numeric_limits<double>::quiet_NaN();  // NaN: the plan has not been read

  std::size_t rounds() const { return last_row - first_row + 1; }
};

// Groups the rows of the table. Rows without a readable plan belong to no choice.
std::vector<Choice> choices_of(const RoundTable& table);

// Formats a choice: "topk at 0.0155 by star".
QString choice_text(const RoundTable& table, const Choice& choice);
// Three significant digits; empty for an unknown ratio.
QString ratio_text(double ratio);
// Returns the name of a class of ratios: "ratio 0.01 to 0.03". Charts colour by class, because
// there are many ratios.
QString ratio_class(double ratio);

// Returns the extent of the rows along the axis.
Stretch stretch_of_rows(const RoundTable& table, std::size_t first_row, std::size_t last_row,
                        bool over_time);

// Returns three bands: codec, ratio and collective.
std::vector<Band> choice_bands(const RoundTable& table, const std::vector<Choice>& choices,
                               bool over_time);

// A round with a decision: it has a trigger, or its choice differs from the previous one.
struct Decision {
  std::uint64_t round = 0;
  std::size_t row = 0;
  std::string from = {};  // empty: the first decision
  std::string to = {};
  std::string trigger = {};
  bool switched = false;      // to a different choice
  std::string sentence = {};  // empty until the plan has been read
  // Time lost per round, by the belief of the next decision; NaN: unknown.
  double regret_s = std::numeric_limits<double>::quiet_NaN();
};
// Returns the newest `decisions_max` decisions, the oldest of them first.
std::vector<Decision> decisions_of(const RoundTable& table, const std::vector<Choice>& choices,
                                   std::size_t decisions_max);
// Whether the row contains a decision, as opposed to continuing the previous row's plan.
bool decides(const RoundTable& table, std::size_t row);
// Returns the row in which the row's plan was decided: the row itself or an earlier one.
std::size_t decided_in(const RoundTable& table, std::size_t row);

// How often the planner chose a name.
struct ChoiceShare {
  QString name = {};
  std::size_t rounds = 0;
  double share = 0;  // of the rounds with a plan
};
// Returns how often each name was chosen, the most frequent first.
std::vector<ChoiceShare> shares_of_names(const std::vector<Choice>& choices,
                                         std::uint16_t Choice::*column, const NameList& names);
// Returns the distribution of the ratios, with four bars per power of ten.
std::vector<Bar> shares_of_ratios(const std::vector<Choice>& choices);
// Returns the shares as rows of a Gantt chart.
std::vector<GanttRow> share_rows(const std::vector<ChoiceShare>& shares);

// Returns the committed round nearest to the position x. Empty for a table without rounds.
std::optional<std::uint64_t> round_next_to(const RoundTable& table, bool over_time, double x);

}  // namespace tributary::dashboard
