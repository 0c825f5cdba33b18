// The charts of the decisions page: the planner's choices above the measured links, what it
// believed of the links, the time of the rounds, and how often each choice was made. GUI thread
// only.
//
// It owns the charts until the page takes them over. show() may keep pointers into the view's
// tables; clear() must be called before the view is destroyed.
#pragma once

#include <QPointer>
#include <QSplitter>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/view/run_view.h"
#include "dashboard/pages/decisions/belief_curves.h"
#include "dashboard/pages/decisions/slow_link_curves.h"
#include "dashboard/pages/plan/choices.h"
#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

class DecisionPictures : public QObject {
  Q_OBJECT

 public:
  // The charts share the x axis of `group`, which must outlive this object.
  explicit DecisionPictures(PlotGroup& group, QObject* parent = nullptr);
  ~DecisionPictures() override;

  // Return the two groups of charts, which the page puts into its layout: those over rounds, and
  // those about frequencies. The page becomes their parent and owner.
  QSplitter* over_rounds() const { return over_rounds_; }
  QSplitter* how_often() const { return how_often_; }

  // Clears all charts; `why` is shown in their place.
  void clear(const QString& why);
  // The job must have at least one round.
  void show(const RunView& view, std::uint64_t job, const std::vector<Choice>& choices,
            const AxisText& x_axis);
  // The beliefs that the next show() draws.
  BeliefCurves& beliefs() { return links_.believed; }
  // Marks the row's round by a background of its own, or removes the mark.
  void mark(const RoundTable& table, std::optional<std::size_t> row);

  // Access for tests.
  PlotView& rate() { return *rate_; }
  PlotView& alpha() { return *alpha_; }
  PlotView& belief() { return *belief_; }
  PlotView& seconds() { return *seconds_; }
  PlotView& ratios() { return *ratios_; }
  PlotView& names() { return *names_; }

 signals:
  // The user clicked on one of the charts over rounds; x is in units of the axis.
  void clicked(double x);

 private:
  struct LinkCharts {
    SlowLinkCurves measured = {};
    BeliefCurves believed = {};
  };

  void show_bands();
  void show_curves(const RoundTable& table, const AxisText& x_axis);
  void show_shares(const RoundTable& table, const std::vector<Choice>& choices);

  PlotGroup ratio_group_;
  PlotGroup name_group_;
  // The page's layout may destroy the splitters before this object does.
  QPointer<QSplitter> over_rounds_;
  QPointer<QSplitter> how_often_;
  PlotView* rate_ = nullptr;
  PlotView* alpha_ = nullptr;
  PlotView* belief_ = nullptr;
  PlotView* seconds_ = nullptr;
  PlotView* ratios_ = nullptr;
  PlotView* names_ = nullptr;
  LinkCharts links_;
  std::vector<Band> bands_;
  std::optional<Band> mark_;
  const RoundTable* table_ = nullptr;
  bool over_time_ = false;
};

}  // namespace tributary::dashboard
