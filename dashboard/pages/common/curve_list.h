// Passes curves to a PlotView only if the list of curves has changed.
//
// Pages build the list at every refresh. The comparison covers names and shared series, not
// samples: a PlotView notices new samples of the same series by itself. GUI thread only.
#pragma once

#include <utility>
#include <vector>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

class CurveList {
 public:
  // Passes `curves` to `view` unless they are the same as in the last call.
  void show(PlotView& view, std::vector<PlotCurve> curves) {
    if (same(curves)) return;
    curves_ = curves;
    view.set_curves(std::move(curves));
  }

 private:
  bool same(const std::vector<PlotCurve>& others) const {
    if (others.size() != curves_.size()) return false;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const PlotCurve& a = curves_[i];
      const PlotCurve& b = others[i];
      if (a.key != b.key || a.name != b.name || a.series != b.series || a.raw != b.raw ||
          a.high != b.high) {
        return false;
      }
    }
    return true;
  }

  std::vector<PlotCurve> curves_ = {};
};

}  // namespace tributary::dashboard
