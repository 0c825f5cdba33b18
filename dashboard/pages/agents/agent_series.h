// Computes the curves of one agent: the phases of a round's time stacked on one another, and the
// measured links, all over the same x axis. No widgets; one thread at a time.
//
// The caller keeps the view alive only during follow(); the curves are copies that pages may hold
// longer. Memory grows with the rounds that the view keeps.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/run/view/run_view.h"
#include "dashboard/pages/common/following_series.h"

namespace tributary::dashboard {

// The agent and job whose curves are drawn, and the kind of x axis.
struct AgentSubject {
  std::uint64_t job = 0;
  std::string agent_id = {};
  bool over_time = false;

  friend bool operator==(const AgentSubject&, const AgentSubject&) = default;
};

class AgentSeries {
 public:
  // Number of borders between the stacked phases: zero, compute, encode, wait, decode. Each phase
  // lies between its border and the one before.
  static constexpr std::size_t kBorders = 5;
  using SharedCurve = std::shared_ptr<const Series>;

  // Appends the new samples of the view. The cost depends on the new samples only; another subject
  // starts all curves anew.
  void follow(const RunView& view, const AgentSubject& subject);

  // Upper border of phase `number`, in s; border 0 is the zero line.
  SharedCurve border(std::size_t number) const { return borders_[number].series(); }
  SharedCurve loss() const { return loss_.series(); }
  SharedCurve gain() const { return gain_.series(); }
  SharedCurve alpha_up() const { return up_.alpha.series(); }
  SharedCurve alpha_down() const { return down_.alpha.series(); }
  SharedCurve rate_up() const { return up_.rate.series(); }  // bit/s, like rate_down()
  SharedCurve rate_down() const { return down_.rate.series(); }

 private:
  using MomentPlace = FunctionRef<std::optional<double>(double)>;
  struct Direction {
    FollowingSeries alpha = {};
    FollowingSeries rate = {};
  };

  void follow_reports(const AgentCurves& curves, const RoundTable& rounds);
  // Appends new samples of one link; `place` maps a time to the axis.
  void follow_direction(Direction& direction, const LinkCurves* link, MomentPlace place);

  AgentSubject subject_;
  std::array<FollowingSeries, kBorders> borders_;
  FollowingSeries loss_;
  FollowingSeries gain_;
  Direction up_;
  Direction down_;
};

}  // namespace tributary::dashboard
