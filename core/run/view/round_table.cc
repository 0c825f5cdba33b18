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

std::uint16_t NameList::number_of(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::uint16_t>(found - names_.begin());
  if (names_.size() == kNamesMax) return kNamesMax - 1;
  names_.emplace_back(names_.size() + 1 == kNamesMax ? "other" : name);
  return static_cast<std::uint16_t>(names_.size() - 1);
}

RoundTable::RoundTable(std::size_t rounds_max)
    : seconds_curve(rounds_max),
      bytes_up_curve(rounds_max),
      bytes_down_curve(rounds_max),
      dense_up_curve(rounds_max),
      dense_down_curve(rounds_max),
      contributors_curve(rounds_max),
      ratio_curve(rounds_max),
      predicted_curve(rounds_max),
      rounds_max_(std::max<std::size_t>(16, rounds_max)) {}

template <typename Function>
void RoundTable::each_column(Function&& function) {
  function(round);
  function(attempt);
  function(began_s);
  function(ended_s);
  function(members);
  function(contributors);
  function(bytes_up);
  function(bytes_down);
  function(dense_bytes_up);
  function(dense_bytes_down);
  function(codec);
  function(collective);
  function(trigger);
  function(ratio);
  function(predicted_s);
}

std::optional<std::size_t> RoundTable::row_of(std::uint64_t wanted) const {
  const auto found = std::ranges::lower_bound(round, wanted);
  if (found == round.end() || *found != wanted) return std::nullopt;
  return static_cast<std::size_t>(found - round.begin());
}

// A round that is not after the last one was stored again, and has been seen: it never changes.
void RoundTable::add(const NewRound& added) {
  if (!round.empty() && added.round <= round.back()) return;
  if (round.size() >= rounds_max_) {
    each_column([this](auto& column) {
      column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rounds_max_ / 16));
    });
  }
  round.push_back(added.round);
  attempt.push_back(added.attempt);
  began_s.push_back(added.began_s);
  ended_s.push_back(added.ended_s);
  members.push_back(added.members);
  contributors.push_back(added.contributors);
  bytes_up.push_back(added.bytes_up);
  bytes_down.push_back(added.bytes_down);
  dense_bytes_up.push_back(added.dense_bytes_up);
  dense_bytes_down.push_back(added.dense_bytes_down);
  codec.push_back(0);
  collective.push_back(0);
  trigger.push_back(0);
  ratio.push_back(kNotPlanned);
  predicted_s.push_back(kNotPlanned);
  bytes_up_sum += static_cast<double>(added.bytes_up);
  bytes_down_sum += static_cast<double>(added.bytes_down);
  dense_up_sum += added.dense_bytes_up;
  dense_down_sum += added.dense_bytes_down;
  draw_row(round.size() - 1);
  ++revision_;
}

void RoundTable::draw_row(std::size_t row) {
  const auto x = static_cast<double>(round[row]);
  const double time_s = ended_s[row];
  seconds_curve.append(x, time_s, ended_s[row] - began_s[row]);
  bytes_up_curve.append(x, time_s, static_cast<double>(bytes_up[row]));
  bytes_down_curve.append(x, time_s, static_cast<double>(bytes_down[row]));
  dense_up_curve.append(x, time_s, dense_bytes_up[row]);
  dense_down_curve.append(x, time_s, dense_bytes_down[row]);
  contributors_curve.append(x, time_s, contributors[row]);
}

void RoundTable::add(const NewPlan& plan) {
  const std::optional<std::size_t> row = row_of(plan.round);
  if (!row) return;
  codec[*row] = codecs.number_of(plan.codecs);
  collective[*row] = collectives.number_of(plan.collectives);
  trigger[*row] = triggers.number_of(plan.trigger);
  ratio[*row] = plan.ratio;
  predicted_s[*row] = plan.predicted_s;
  ratio_curve.append(static_cast<double>(plan.round), ended_s[*row], plan.ratio);
  predicted_curve.append(static_cast<double>(plan.round), ended_s[*row], plan.predicted_s);
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
