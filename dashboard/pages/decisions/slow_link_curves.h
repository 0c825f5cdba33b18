// The curves of the coordinator's slowest links, over rounds and over time: latency (α), and the
// rate that follows from the time per byte (1/β). Links between agents are not included.
//
// The set of links is chosen again only from time to time, so that an update costs the new samples
// and not the number of links. One thread at a time.
#pragma once

#include <QString>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/view/run_view.h"
#include "dashboard/pages/common/following_series.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

class SlowLinkCurves {
 public:
  static constexpr std::size_t kLinksMax = 4;  // the slowest links of each quantity

  // Transfers the new samples and places them among the rounds of `job`. Returns true if the set of
  // curves has changed, so that the charts must be given the new set.
  bool update(const RunView& view, std::uint64_t job);
  void clear();

  std::vector<PlotCurve> alpha(bool over_time) const { return curves(alpha_, over_time); }
  std::vector<PlotCurve> rate(bool over_time) const { return curves(rate_, over_time); }

 private:
  struct DirectedLink {
    QString name = {};
    QString agent = {};
    bool up = false;  // from the agent to the coordinator
    std::shared_ptr<const Series> source = {};
    double last = 0;  // newest value, in s or s/byte
    FollowingSeries over_rounds = {};
    FollowingSeries over_time = {};
  };
  // The selected links of one quantity.
  struct Quantity {
    std::vector<DirectedLink> links = {};
    // Curves show 8 / y instead of y: bit/s from s/byte.
    bool inverse = false;
  };

  static std::vector<PlotCurve> curves(const Quantity& quantity, bool over_time);
  static bool choose(Quantity& quantity, std::vector<DirectedLink> found);
  static void feed(DirectedLink& link, bool inverse, const RoundTable* rounds,
                   std::optional<double> tail_s);

  Quantity alpha_ = {};
  Quantity rate_ = {.inverse = true};
  std::uint64_t revision_seen_ = 0;
  // The revision of the links at which the slowest links are selected again.
  std::uint64_t choose_again_at_ = 0;
};

}  // namespace tributary::dashboard
