// The curves of a picture, made anew at every change of a run and handed to it only where they are
// others: what a picture draws of the same curves it sees by itself.
#pragma once

#include <utility>
#include <vector>

#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

class CurveList {
 public:
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
