// What the plans of a job chose, round by round, and what is drawn and listed of it.
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

// Rows one after the other with one codec, collective and ratio.
struct Choice {
  std::size_t first_row = 0;
  std::size_t last_row = 0;
  std::uint16_t codec = 0;
  std::uint16_t collective = 0;
  double ratio = std::numeric_limits<double>::quiet_NaN();  // NaN: the plan has not been read

  std::size_t rounds() const { return last_row - first_row + 1; }
};

// Rows whose plan has not been read yet, or cannot be, are in none.
std::vector<Choice> choices_of(const RoundTable& table);

// "topk at 0.0155 by star".
QString choice_text(const RoundTable& table, const Choice& choice);
QString ratio_text(double ratio);
// Ratios are many; colours go by what they are about: "ratio 0.01 to 0.03".
QString ratio_class(double ratio);

// Where rows stand along an axis.
Stretch stretch_of_rows(const RoundTable& table, std::size_t first_row, std::size_t last_row,
                        bool over_time);

// Three strips: codec, ratio, collective.
std::vector<Band> choice_bands(const RoundTable& table, const std::vector<Choice>& choices,
                               bool over_time);

// A round in which something was decided: its trigger says why, or its choice is another one than
// before.
struct Decision {
  std::uint64_t round = 0;
  std::size_t row = 0;
  std::string from = {};  // empty: the first one
  std::string to = {};
  std::string trigger = {};
  bool switched = false;      // to another choice
  std::string sentence = {};  // once somebody has read it
};
// The newest `decisions_max`, the oldest first.
std::vector<Decision> decisions_of(const RoundTable& table, const std::vector<Choice>& choices,
                                   std::size_t decisions_max);
// Whether a row is other than a going on with the one before it.
bool decides(const RoundTable& table, std::size_t row);
// Where what held in a row was decided: the row itself or one before it.
std::size_t decided_in(const RoundTable& table, std::size_t row);

struct ChoiceShare {
  QString name = {};
  std::size_t rounds = 0;
  double share = 0;  // of the rounds with a plan
};
// The most frequent first.
std::vector<ChoiceShare> shares_of_names(const std::vector<Choice>& choices,
                                         std::uint16_t Choice::*column, const NameList& names);
// How often which ratio was used: four bars in each power of ten.
std::vector<Bar> shares_of_ratios(const std::vector<Choice>& choices);
// What a chart with a row for each shows.
std::vector<GanttRow> share_rows(const std::vector<ChoiceShare>& shares);

// The committed round that is next to a place on the axis.
std::optional<std::uint64_t> round_next_to(const RoundTable& table, bool over_time, double x);

}  // namespace tributary::dashboard
