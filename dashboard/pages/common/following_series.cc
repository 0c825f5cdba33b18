#include "dashboard/pages/common/following_series.h"

#include <algorithm>
#include <cmath>

namespace tributary::dashboard {
namespace {

// Position of a moment that does not belong on the axis. SampleMap skips such a sample.
constexpr double kNowhereX = std::numeric_limits<double>::quiet_NaN();

// Returns the index of the first sample to the right of x.
std::size_t first_behind(const Series& series, double x) {
  std::size_t low = 0;
  std::size_t high = series.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (series.at(middle).x > x) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// NaN if the round does not state its dense size.
double saved_in(const RoundTable& rounds, std::size_t row) {
  return rounds.columns.dense_bytes_up[row] + rounds.columns.dense_bytes_down[row] -
         static_cast<double>(rounds.columns.bytes_up[row]) -
         static_cast<double>(rounds.columns.bytes_down[row]);
}

}  // namespace

bool FollowingSeries::begins_anew(const Series& source) const {
  return source_.get() != &source || source.revision() < revision_;
}

void FollowingSeries::reset() {
  source_.reset();
  series_ = std::make_shared<Series>(series_->samples_max());
  last_x_ = -std::numeric_limits<double>::infinity();
  revision_ = 0;
}

void FollowingSeries::follow(const std::shared_ptr<const Series>& source, SampleMap map) {
  if (begins_anew(*source)) {
    reset();
    source_ = source;
    series_ = std::make_shared<Series>(source->samples_max());
  }
  if (source->revision() == revision_) return;
  for (std::size_t i = first_behind(*source, last_x_); i < source->size(); ++i) {
    const Sample sample = source->at(i);
    const std::optional<Sample> mapped = map(sample);
    // Later samples may be unknown too, and the order must be kept.
    if (!mapped) return;
    if (std::isfinite(mapped->x)) series_->append(*mapped);
    last_x_ = sample.x;
  }
  revision_ = source->revision();
}

void SmoothedSeries::follow(const std::shared_ptr<const Series>& source, double weight) {
  if (weight != weight_ || following_.begins_anew(*source)) {
    following_.reset();
    mean_ = SmoothedMean(weight);
    weight_ = weight;
  }
  following_.follow(source, [this](Sample sample) -> std::optional<Sample> {
    return Sample{sample.x, mean_.take(sample.y)};
  });
}

// Rounds that have left the table remain in the sums, so the curve starts at their total.
void SavedBytes::begin(const RoundTable& rounds) {
  of_ = rounds.curves.seconds.over_rounds;
  last_round_.reset();
  saved_ =
      rounds.sums.dense_up + rounds.sums.dense_down - rounds.sums.bytes_up - rounds.sums.bytes_down;
  for (std::size_t row = 0; row < rounds.size(); ++row) saved_ -= saved_in(rounds, row);
  const std::size_t samples_max = rounds.curves.seconds.over_rounds->samples_max();
  over_rounds_ = std::make_shared<Series>(samples_max);
  over_time_ = std::make_shared<Series>(samples_max);
}

void SavedBytes::follow(const RoundTable& rounds) {
  // The table was restarted if its newest round is older than the last one processed.
  const bool shorter =
      last_round_ && (rounds.size() == 0 || rounds.columns.round.back() < *last_round_);
  if (of_ != rounds.curves.seconds.over_rounds || shorter) begin(rounds);
  auto next = rounds.columns.round.begin();
  if (last_round_) next = std::ranges::upper_bound(rounds.columns.round, *last_round_);
  for (; next != rounds.columns.round.end(); ++next) {
    const auto row = static_cast<std::size_t>(next - rounds.columns.round.begin());
    saved_ += saved_in(rounds, row);
    const std::optional<Sample> before = over_time_->last();
    // Time must not decrease along the series, even if the file says so.
    const double time_s =
        before ? std::max(before->x, rounds.columns.ended_s[row]) : rounds.columns.ended_s[row];
    over_rounds_->append({static_cast<double>(*next), saved_});
    over_time_->append({time_s, saved_});
    last_round_ = *next;
  }
}

std::optional<double> end_of_tail(const RunView& view, std::uint64_t job) {
  // Only a job that has ended can have no further round.
  const auto is_over = [&](const JobInfo& each) {
    return each.job == job &&
           (each.state == wire::JobState::finished || each.state == wire::JobState::stopped);
  };
  const RoundTable* const rounds = view.rounds(job);
  if (!rounds || rounds->size() == 0 || std::ranges::none_of(view.jobs(), is_over)) return {};
  double tail_s = std::numeric_limits<double>::infinity();
  for (const JobInfo& other : view.jobs()) {
    const RoundTable* const others = view.rounds(other.job);
    if (!others || others->size() == 0 ||
        others->columns.began_s[0] < rounds->columns.ended_s.back())
      continue;
    if (other.job != job) tail_s = std::min(tail_s, others->columns.began_s[0]);
  }
  return tail_s;
}

std::optional<double> round_at(const RoundTable& rounds, double time_s,
                               std::optional<double> tail_s) {
  const auto end = std::ranges::lower_bound(rounds.columns.ended_s, time_s);
  if (end == rounds.columns.ended_s.end()) {
    if (!tail_s || rounds.size() == 0) return std::nullopt;
    return time_s < *tail_s ? static_cast<double>(rounds.columns.round.back()) : kNowhereX;
  }
  const auto row = static_cast<std::size_t>(end - rounds.columns.ended_s.begin());
  const double began_s = row == 0 ? rounds.columns.began_s[0] : rounds.columns.ended_s[row - 1];
  if (time_s < began_s) return kNowhereX;
  const double length_s = *end - began_s;
  const double share = length_s > 0 ? (time_s - began_s) / length_s : 1;
  return static_cast<double>(rounds.columns.round[row]) - 1 + share;
}

std::optional<double> time_of_round(const RoundTable& rounds, double round) {
  const auto found = std::ranges::lower_bound(rounds.columns.round,
                                              static_cast<std::uint64_t>(std::max(round, 0.0)));
  if (found == rounds.columns.round.end()) return std::nullopt;
  if (static_cast<double>(*found) != round) return kNowhereX;
  return rounds.columns.ended_s[static_cast<std::size_t>(found - rounds.columns.round.begin())];
}

}  // namespace tributary::dashboard
