#include "dashboard/pages/agents/agent_series.h"

#include <cmath>
#include <optional>

#include "core/run/units/quantity.h"

namespace tributary::dashboard {
namespace {

// Returns the x position of an agent's report on a round. Empty if the round is not in the table
// yet.
std::optional<double> place_of_report(double round, bool over_time, const RoundTable& rounds) {
  return over_time ? time_of_round(rounds, round) : round;
}

// Returns the value of exactly this round; NaN if the series has none.
double value_at(const Series& series, double x) {
  const std::optional<Sample> sample = series.nearest(x);
  return sample && sample->x == x ? sample->y : kUnknown;
}

}  // namespace

void AgentSeries::follow(const RunView& view, const AgentSubject& subject) {
  if (!(subject == subject_)) {
    *this = AgentSeries();
    subject_ = subject;
  }
  const RoundTable* const rounds = view.rounds(subject.job);
  if (!rounds) return;
  if (const AgentCurves* const curves = view.agent_curves(subject.job, subject.agent_id)) {
    follow_reports(*curves, *rounds);
  }
  const std::optional<double> tail_s = end_of_tail(view, subject.job);
  const auto place = [&](double time_s) -> std::optional<double> {
    return subject.over_time ? time_s : round_at(*rounds, time_s, tail_s);
  };
  follow_direction(up_, view.link(subject.agent_id, ""), place);
  follow_direction(down_, view.link("", subject.agent_id), place);
}

void AgentSeries::follow_reports(const AgentCurves& curves, const RoundTable& rounds) {
  const auto placed = [&](Sample sample, double y) -> std::optional<Sample> {
    const std::optional<double> x = place_of_report(sample.x, subject_.over_time, rounds);
    if (!x) return std::nullopt;
    return Sample{*x, y};
  };
  // A round's parts are drawn together, once the last of them is known: its wait.
  const auto before_wait = [&](Sample s) {
    return value_at(*curves.compute_s, s.x) + value_at(*curves.encode_s, s.x);
  };
  borders_[0].follow(curves.wait_s, [&](Sample s) {
    const double compute = value_at(*curves.compute_s, s.x);
    return placed(s, compute - compute);  // 0, and NaN for an unknown one: gaps stay gaps
  });
  borders_[1].follow(curves.wait_s,
                     [&](Sample s) { return placed(s, value_at(*curves.compute_s, s.x)); });
  borders_[2].follow(curves.wait_s, [&](Sample s) { return placed(s, before_wait(s)); });
  borders_[3].follow(curves.wait_s, [&](Sample s) { return placed(s, before_wait(s) + s.y); });
  // Runs of earlier versions do not report the decode time; it is then part of the wait.
  borders_[4].follow(curves.wait_s, [&](Sample s) {
    const double decode = value_at(*curves.decode_s, s.x);
    return placed(s, before_wait(s) + s.y + (std::isfinite(decode) ? decode : 0));
  });
  gain_.follow(curves.gain, [&](Sample s) { return placed(s, s.y); });
  loss_.follow(curves.loss, [&](Sample s) { return placed(s, s.y); });
}

void AgentSeries::follow_direction(Direction& direction, const LinkCurves* link,
                                   MomentPlace place) {
  if (!link) return;
  const auto placed = [&](Sample sample, double y) -> std::optional<Sample> {
    const std::optional<double> x = place(sample.x);
    if (!x) return std::nullopt;
    return Sample{*x, y};
  };
  direction.alpha.follow(link->alpha_s, [&](Sample s) { return placed(s, s.y); });
  direction.rate.follow(link->beta_s_per_byte,
                        [&](Sample s) { return placed(s, bits_per_second(s.y)); });
}

}  // namespace tributary::dashboard
