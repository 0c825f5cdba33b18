// Curves that are derived from other curves: followers, moving averages and saved bytes.
//
// Each follow() transfers only the samples that are new since the last call, so that a repaint
// costs the new samples and not the whole run. The objects share series and are not synchronized;
// use them from one thread.
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

// Maps a sample of the source. Empty: not known yet, follow() stops and asks again at the next
// call. A non-finite x: the sample is skipped.
using SampleMap = FunctionRef<std::optional<Sample>(Sample)>;

// A curve whose samples are mapped samples of another curve.
class FollowingSeries {
 public:
  // Reports whether the source is another series than before or was restarted.
  bool begins_anew(const Series& source) const;
  // Appends the mapped new samples. Several samples may share one x; those that are added to the
  // source after this call with an x already transferred are skipped.
  void follow(const std::shared_ptr<const Series>& source, SampleMap map);
  // Forgets the source and all samples.
  void reset();

  std::shared_ptr<const Series> series() const { return series_; }

 private:
  std::shared_ptr<const Series> source_ = {};
  std::shared_ptr<Series> series_ = std::make_shared<Series>(1);
  double last_x_ = -std::numeric_limits<double>::infinity();
  std::uint64_t revision_ = 0;
};

// The exponentially weighted moving average of a curve.
class SmoothedSeries {
 public:
  // Follows the source. Weight 0 reproduces the source; another weight than before starts anew.
  void follow(const std::shared_ptr<const Series>& source, double weight);
  std::shared_ptr<const Series> series() const { return following_.series(); }

 private:
  FollowingSeries following_;
  double weight_ = -1;
  SmoothedMean mean_{0};
};

// Bytes that compression has saved up to each round, against sending every update dense. Empty if
// the rounds do not state their dense size.
class SavedBytes {
 public:
  void follow(const RoundTable& rounds);
  std::shared_ptr<const Series> over_rounds() const { return over_rounds_; }
  std::shared_ptr<const Series> over_time() const { return over_time_; }

 private:
  // Starts a new table with the total of the rounds that it has already dropped.
  void begin(const RoundTable& rounds);

  // Owning this series keeps its address in use, so that a new table cannot be mistaken for this
  // one.
  std::shared_ptr<const Series> of_ = {};
  std::optional<std::uint64_t> last_round_ = {};
  double saved_ = 0;
  std::shared_ptr<Series> over_rounds_ = std::make_shared<Series>(1);
  std::shared_ptr<Series> over_time_ = std::make_shared<Series>(1);
};

// Returns the time until which moments after a job's last round belong to the job's end: the start
// of the next job's first round, infinity if there is none. Empty while the job may still have
// another round.
std::optional<double> end_of_tail(const RunView& view, std::uint64_t job);

// round_at() converts a time into a position among the rounds, with a fraction; time_of_round() is
// the inverse. Both return nothing for a position after the last round, because that round may
// still be running. With `tail_s`, a time after the last round and before the tail's end belongs to
// the last round. A position before the first round, after the tail, or of a round missing in the
// table, is not finite.
std::optional<double> round_at(const RoundTable& rounds, double time_s,
                               std::optional<double> tail_s = {});
std::optional<double> time_of_round(const RoundTable& rounds, double round);

}  // namespace tributary::dashboard
