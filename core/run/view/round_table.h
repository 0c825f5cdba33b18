// The committed rounds of a job in columns, and the curves that are drawn from them. Plain values,
// used by the thread that draws.
//
// Rounds must be added in ascending order; others are ignored. A plan may come any time after its
// round. add() costs constant time on average, except when a full table drops rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/run_changes.h"
#include "core/run/series/series.h"

namespace tributary::dashboard {

// One quantity over rounds and over time. Pages draw the curves; only their owner changes them.
struct TwoCurves {
  explicit TwoCurves(std::size_t samples_max)
      : over_rounds(std::make_shared<Series>(samples_max)),
        over_time(std::make_shared<Series>(samples_max)) {}

  // Appends a value. If the clock was set back, the time of the last sample is used.
  void append(double round, double time_s, double value);

  std::shared_ptr<Series> over_rounds;
  std::shared_ptr<Series> over_time;
};

// Numbers for texts that repeat. Number 0 is the empty text. The list bounds what a hostile file
// can add.
class NameList {
 public:
  static constexpr std::size_t kNamesMax = 1024;

  // The number of a text; when the list is full, the number of "other".
  std::uint16_t number_of(std::string_view name);
  const std::string& name(std::uint16_t number) const { return names_[number]; }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_ = {""};
};

// A range of rows with the same value in a column.
struct NameStretch {
  std::size_t first_row = 0;
  std::size_t last_row = 0;
  std::uint16_t name = 0;
};

// Rows are in ascending order of rounds.
struct RoundColumns {
  std::vector<std::uint64_t> round = {};
  std::vector<std::uint32_t> attempt = {};
  std::vector<double> began_s = {};
  std::vector<double> ended_s = {};
  std::vector<std::uint32_t> members = {};
  std::vector<std::uint32_t> contributors = {};
  std::vector<std::uint64_t> bytes_up = {};
  std::vector<std::uint64_t> bytes_down = {};
  std::vector<double> dense_bytes_up = {};  // NaN: unknown
  std::vector<double> dense_bytes_down = {};
  // Columns from the plan, which is read later. Until then names are empty and numbers NaN.
  std::vector<std::uint16_t> codec = {};
  std::vector<std::uint16_t> collective = {};
  std::vector<std::uint16_t> trigger = {};
  std::vector<double> ratio = {};
  std::vector<double> predicted_s = {};
};

// The texts for the numbers in the columns of names.
struct RoundNames {
  NameList codecs;
  NameList collectives;
  NameList triggers;
};

// Sums over all rounds ever added, dropped ones included.
struct RoundSums {
  double bytes_up = 0;
  double bytes_down = 0;
  double dense_up = 0;  // NaN if any summand is unknown
  double dense_down = 0;
};

// The curves of a job's rounds.
struct RoundCurves {
  explicit RoundCurves(std::size_t rounds_max)
      : seconds(rounds_max),
        bytes_up(rounds_max),
        bytes_down(rounds_max),
        dense_up(rounds_max),
        dense_down(rounds_max),
        contributors(rounds_max),
        ratio(rounds_max),
        predicted(rounds_max) {}

  TwoCurves seconds;
  TwoCurves bytes_up;
  TwoCurves bytes_down;
  TwoCurves dense_up;
  TwoCurves dense_down;
  TwoCurves contributors;
  TwoCurves ratio;
  TwoCurves predicted;
};

class RoundTable {
 public:
  // If the table is full, the oldest sixteenth of the rounds is dropped.
  explicit RoundTable(std::size_t rounds_max);

  void add(const NewRound& round);
  void add(const NewPlan& plan);

  std::size_t size() const { return columns.round.size(); }
  // Row of a round, found by binary search.
  std::optional<std::size_t> row_of(std::uint64_t round) const;
  // Ranges of rows with the same name in a column, within the given rows.
  static std::vector<NameStretch> stretches(const std::vector<std::uint16_t>& column,
                                            std::size_t first_row, std::size_t last_row);
  std::uint64_t revision() const { return revision_; }

  // Read-only for users.
  RoundColumns columns;
  RoundNames names;
  RoundSums sums;
  RoundCurves curves;

 private:
  template <typename Function>
  void each_column(Function&& function);
  void draw_row(std::size_t row);

  std::size_t rounds_max_;
  std::uint64_t revision_ = 0;
};

}  // namespace tributary::dashboard
