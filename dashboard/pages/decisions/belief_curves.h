// The planner's belief as curves with 90 % bands: the rates of links, and the expected time of a
// round, over rounds and over time.
//
// A belief is stored with each decision and holds until the next one, so the curves are steps. They
// end at the last round. GUI thread only.
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/run/view/round_table.h"
#include "dashboard/plot/data/plot_data.h"
#include "dashboard/session/decision_belief.h"

namespace tributary::dashboard {

class BeliefCurves {
 public:
  static constexpr std::size_t kBeliefsMax = 500;  // the newest are kept

  // Adds the belief of a decision, in any order.
  void add(std::shared_ptr<const DecisionBelief> belief);
  void clear();
  // Draws the curves again if beliefs or rounds were added, or if the axis is another one. Costs
  // time linear in the beliefs. Returns true if the set of curves has changed, so that the charts
  // must be given the new set.
  bool update(const RoundTable& table, bool over_time);

  // Number of beliefs that were added since the last update().
  std::size_t undrawn() const { return undrawn_; }

  // One curve per link. An unlimited link has none.
  std::vector<PlotCurve> rates() const;
  // The bounds of the expected time of a round.
  SharedSeries expected_low() const { return expected_.low; }
  SharedSeries expected_high() const { return expected_.high; }

  // The belief of the decision in this round; null if it is not known.
  const DecisionBelief* of(std::uint64_t round) const;
  // The belief of the first decision after this round, if it judges the choice before it.
  const DecisionBelief* judge_of(std::uint64_t round) const;

 private:
  // The median and the bounds of one quantity.
  struct Steps {
    std::shared_ptr<Series> low = {};
    std::shared_ptr<Series> median = {};
    std::shared_ptr<Series> high = {};

    void make(std::size_t samples_max);
    void append(double x, const BeliefBand& band) const;
  };
  struct Link {
    QString name = {};
    QString colour_key = {};
    bool pale = false;
    Steps steps = {};
    BeliefBand last = {};
  };

  void draw(const RoundTable& table, bool over_time);
  void draw_links(const DecisionBelief& belief, double x);
  void end_at(double x);

  std::map<std::uint64_t, std::shared_ptr<const DecisionBelief>> beliefs_;  // by round
  std::vector<Link> links_;
  Steps expected_;
  BeliefBand last_expected_;
  std::size_t undrawn_ = 0;
  const RoundTable* table_ = nullptr;
  bool over_time_ = false;
  double end_ = -std::numeric_limits<double>::infinity();
};

// Example: "Expected 434 ms (90 %: 410 ms to 512 ms). Regret by the belief of round 85: 12 ms per
// round; thc:rate=2 by star takes 420 ms." Either may be null.
QString belief_text(const DecisionBelief* belief, const DecisionBelief* judge);

}  // namespace tributary::dashboard
