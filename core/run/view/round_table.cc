#include "core/run/view/round_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary::dashboard {
namespace {

constexpr double kNotPlanned = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void TwoCurves::append(double round, double time_s, double value) {
  over_rounds->append({round, value});
  const std::optional<Sample> last = over_time->last();
  over_time->append({last ? std::max(last->x, time_s) : time_s, value});
}

// The search is linear: files have a handful of names. The last number stands for all names beyond
// the bound.
std::uint16_t NameList::number_of(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::uint16_t>(found - names_.begin());
  if (names_.size() == kNamesMax) return kNamesMax - 1;
  names_.emplace_back(names_.size() + 1 == kNamesMax ? "other" : name);
  return static_cast<std::uint16_t>(names_.size() - 1);
}

RoundTable::RoundTable(std::size_t rounds_max)
    : curves(rounds_max), rounds_max_(std::max<std::size_t>(16, rounds_max)) {}

template <typename Function>
void RoundTable::each_column(Function&& function) {
  function(columns.round);
  function(columns.attempt);
  function(columns.began_s);
  function(columns.ended_s);
  function(columns.members);
  function(columns.contributors);
  function(columns.bytes_up);
  function(columns.bytes_down);
  function(columns.dense_bytes_up);
  function(columns.dense_bytes_down);
  function(columns.codec);
  function(columns.collective);
  function(columns.trigger);
  function(columns.ratio);
  function(columns.predicted_s);
}

std::optional<std::size_t> RoundTable::row_of(std::uint64_t round) const {
  const auto found = std::ranges::lower_bound(columns.round, round);
  if (found == columns.round.end() || *found != round) return std::nullopt;
  return static_cast<std::size_t>(found - columns.round.begin());
}

// A round not after the last one was stored again and is already known; a round never changes.
void RoundTable::add(const NewRound& added) {
  if (!columns.round.empty() && added.round <= columns.round.back()) return;
  // A sixteenth is dropped at once, so that each row is moved a bounded number of times. Sums and
  // curves keep what the columns lose.
  if (columns.round.size() >= rounds_max_) {
    each_column([this](auto& column) {
      column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rounds_max_ / 16));
    });
  }
  columns.round.push_back(added.round);
  columns.attempt.push_back(added.attempt);
  columns.began_s.push_back(added.began_s);
  columns.ended_s.push_back(added.ended_s);
  columns.members.push_back(added.members);
  columns.contributors.push_back(added.contributors);
  columns.bytes_up.push_back(added.bytes_up);
  columns.bytes_down.push_back(added.bytes_down);
  columns.dense_bytes_up.push_back(added.dense_bytes_up);
  columns.dense_bytes_down.push_back(added.dense_bytes_down);
  columns.codec.push_back(0);
  columns.collective.push_back(0);
  columns.trigger.push_back(0);
  columns.ratio.push_back(kNotPlanned);
  columns.predicted_s.push_back(kNotPlanned);
  sums.bytes_up += static_cast<double>(added.bytes_up);
  sums.bytes_down += static_cast<double>(added.bytes_down);
  sums.dense_up += added.dense_bytes_up;
  sums.dense_down += added.dense_bytes_down;
  draw_row(columns.round.size() - 1);
  ++revision_;
}

// Adds the round to all curves that do not depend on its plan.
void RoundTable::draw_row(std::size_t row) {
  const auto x = static_cast<double>(columns.round[row]);
  const double time_s = columns.ended_s[row];
  curves.seconds.append(x, time_s, columns.ended_s[row] - columns.began_s[row]);
  curves.bytes_up.append(x, time_s, static_cast<double>(columns.bytes_up[row]));
  curves.bytes_down.append(x, time_s, static_cast<double>(columns.bytes_down[row]));
  curves.dense_up.append(x, time_s, columns.dense_bytes_up[row]);
  curves.dense_down.append(x, time_s, columns.dense_bytes_down[row]);
  curves.contributors.append(x, time_s, columns.contributors[row]);
}

// A plan may belong to a round that was already dropped; it is ignored then.
void RoundTable::add(const NewPlan& plan) {
  const std::optional<std::size_t> row = row_of(plan.round);
  if (!row) return;
  columns.codec[*row] = names.codecs.number_of(plan.codecs);
  columns.collective[*row] = names.collectives.number_of(plan.collectives);
  columns.trigger[*row] = names.triggers.number_of(plan.trigger);
  columns.ratio[*row] = plan.ratio;
  columns.predicted_s[*row] = plan.predicted_s;
  curves.ratio.append(static_cast<double>(plan.round), columns.ended_s[*row], plan.ratio);
  curves.predicted.append(static_cast<double>(plan.round), columns.ended_s[*row], plan.predicted_s);
  ++revision_;
}

std::vector<NameStretch> RoundTable::stretches(const std::vector<std::uint16_t>& column,
                                               std::size_t first_row, std::size_t last_row) {
  std::vector<NameStretch> out;
  for (std::size_t row = first_row; row <= last_row && row < column.size(); ++row) {
    if (out.empty() || out.back().name != column[row]) {
      out.push_back({.first_row = row, .last_row = row, .name = column[row]});
    }
    out.back().last_row = row;
  }
  return out;
}

}  // namespace tributary::dashboard
