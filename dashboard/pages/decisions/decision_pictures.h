// The pictures of the page of decisions: what was chosen, above what the lines were measured to be,
// what rounds took, and how often each choice was made.
#pragma once

#include <QPointer>
#include <QSplitter>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/view/run_view.h"
#include "dashboard/pages/decisions/way_curves.h"
#include "dashboard/pages/plan/choices.h"
#include "dashboard/plot/plot_view.h"

namespace tributary::dashboard {

class DecisionPictures : public QObject {
  Q_OBJECT

 public:
  // Their x axis is the group's, which must outlive them.
  explicit DecisionPictures(PlotGroup& group, QObject* parent = nullptr);
  ~DecisionPictures() override;

  // Rates, latencies and seconds above one another, to be put into a page; and the two of how
  // often.
  QSplitter* over_rounds() const { return over_rounds_; }
  QSplitter* how_often() const { return how_often_; }

  void clear(const QString& why);
  // Of a job that has rounds.
  void show(const RunView& view, std::uint64_t job, const std::vector<Choice>& choices,
            const AxisText& x_axis);
  // The round that is looked at, on a ground of its own.
  void mark(const RoundTable& table, std::optional<std::size_t> row);

  PlotView& rate() { return *rate_; }
  PlotView& alpha() { return *alpha_; }
  PlotView& seconds() { return *seconds_; }
  PlotView& ratios() { return *ratios_; }
  PlotView& names() { return *names_; }

 signals:
  void clicked(double x);

 private:
  void show_bands();
  void show_curves(const RoundTable& table, const AxisText& x_axis);
  void show_shares(const RoundTable& table, const std::vector<Choice>& choices);

  PlotGroup ratio_group_;
  PlotGroup name_group_;
  QPointer<QSplitter> over_rounds_;
  QPointer<QSplitter> how_often_;
  PlotView* rate_ = nullptr;
  PlotView* alpha_ = nullptr;
  PlotView* seconds_ = nullptr;
  PlotView* ratios_ = nullptr;
  PlotView* names_ = nullptr;
  WayCurves ways_;
  std::vector<Band> bands_;
  std::optional<Band> mark_;
  const RoundTable* table_ = nullptr;
  bool over_time_ = false;
};

}  // namespace tributary::dashboard
