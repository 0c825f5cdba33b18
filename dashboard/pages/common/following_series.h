// Curves that are made of others: samples that come are carried over one by one, so that a repaint
// costs what is new and not what there is.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "core/base/function_ref.h"
#include "core/run/series/series.h"
#include "core/run/series/smoothing.h"
#include "core/run/view/run_view.h"

namespace tributary::dashboard {

// What becomes of a sample. Nothing: not known yet, ask again. With an x that is not finite: it is
// left out.
using SampleMap = FunctionRef<std::optional<Sample>(Sample)>;

class FollowingSeries {
 public:
  // Whether the source is another one than before, or has begun anew.
  bool begins_anew(const Series& source) const;
  // Of samples with one x only those that came before the last call are certain to be carried over.
  void follow(const std::shared_ptr<const Series>& source, SampleMap map);
  void reset();

  std::shared_ptr<const Series> series() const { return series_; }

 private:
  std::shared_ptr<const Series> source_ = {};
  std::shared_ptr<Series> series_ = std::make_shared<Series>(1);
  double last_x_ = -std::numeric_limits<double>::infinity();
  std::uint64_t revision_ = 0;
};

// The moving average of a curve.
class SmoothedSeries {
 public:
  // Of weight 0 it is the curve itself.
  void follow(const std::shared_ptr<const Series>& source, double weight);
  std::shared_ptr<const Series> series() const { return following_.series(); }

 private:
  FollowingSeries following_;
  double weight_ = -1;
  SmoothedMean mean_{0};
};

// Bytes that were not sent, because updates were compressed, up to each round. Empty, where a round
// does not say what it would have been.
class SavedBytes {
 public:
  void follow(const RoundTable& rounds);
  std::shared_ptr<const Series> over_rounds() const { return over_rounds_; }
  std::shared_ptr<const Series> over_time() const { return over_time_; }

 private:
  void begin(const RoundTable& rounds);

  // Kept, so that no other table can be taken for the one before.
  std::shared_ptr<const Series> of_ = {};
  std::optional<std::uint64_t> last_round_ = {};
  double saved_ = 0;
  std::shared_ptr<Series> over_rounds_ = std::make_shared<Series>(1);
  std::shared_ptr<Series> over_time_ = std::make_shared<Series>(1);
};

// Up to when a moment after the last round of a job belongs to its end: until another job's first
// round begins. Nothing as long as the job may have another round.
std::optional<double> end_of_tail(const RunView& view, std::uint64_t job);

// Where a moment stands among the rounds, as a round with a fraction, and the other way; nothing
// for what comes after the last one, which is where the tail stands once there is one. What lies
// before the first, or behind the tail, has no finite answer.
std::optional<double> round_at(const RoundTable& rounds, double time_s,
                               std::optional<double> tail_s = {});
std::optional<double> time_of_round(const RoundTable& rounds, double round);

}  // namespace tributary::dashboard
