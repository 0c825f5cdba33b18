// One agent's curves as its page draws them: parts of a round's time on top of one another, and its
// links, all over the same axis. No widgets.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/run/view/run_view.h"
#include "dashboard/pages/common/following_series.h"

namespace tributary::dashboard {

// Whose curves, and over what.
struct AgentSubject {
  std::uint64_t job = 0;
  std::string agent_id = {};
  bool over_time = false;

  friend bool operator==(const AgentSubject&, const AgentSubject&) = default;
};

class AgentSeries {
 public:
  // The parts of a round's time, each up to its upper border: nothing, compute, encode, wait,
  // decode.
  static constexpr std::size_t kBorders = 5;
  using SharedCurve = std::shared_ptr<const Series>;

  void follow(const RunView& view, const AgentSubject& subject);

  SharedCurve border(std::size_t number) const { return borders_[number].series(); }
  SharedCurve loss() const { return loss_.series(); }
  SharedCurve gain() const { return gain_.series(); }
  SharedCurve alpha_up() const { return up_.alpha.series(); }
  SharedCurve alpha_down() const { return down_.alpha.series(); }
  SharedCurve rate_up() const { return up_.rate.series(); }  // bit/s
  SharedCurve rate_down() const { return down_.rate.series(); }

 private:
  using MomentPlace = FunctionRef<std::optional<double>(double)>;
  struct Way {
    FollowingSeries alpha = {};
    FollowingSeries rate = {};
  };

  void follow_reports(const AgentCurves& curves, const RoundTable& rounds);
  void follow_way(Way& way, const LinkCurves* link, MomentPlace place);

  AgentSubject subject_;
  std::array<FollowingSeries, kBorders> borders_;
  FollowingSeries loss_;
  FollowingSeries gain_;
  Way up_;
  Way down_;
};

}  // namespace tributary::dashboard
