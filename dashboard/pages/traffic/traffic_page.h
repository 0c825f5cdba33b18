// The page of the traffic, up and down: per round and per agent, compared with uncompressed
// updates; by the use of the messages; and the rates of the coordinator's links.
//
// Totals and rounds are those of all open runs; agents and links are those of the first run only.
// The page keeps derived curves per agent, for at most kAgentsMax of them, and drops them with the
// run or its selected job. GUI thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dashboard/pages/common/curve_list.h"
#include "dashboard/pages/common/following_series.h"
#include "dashboard/pages/common/page.h"
#include "dashboard/pages/traffic/message_stack.h"
#include "dashboard/plot/plot_view.h"

class QComboBox;
class QLabel;

namespace tributary::dashboard {

class TrafficPage : public Page {
  Q_OBJECT

 public:
  static constexpr std::size_t kAgentsMax = 24;  // in one chart

  explicit TrafficPage(PageContext& context, QWidget* parent = nullptr);
  ~TrafficPage() override;

  QString name() const override { return "traffic"; }
  QString title() const override { return "Traffic"; }
  void set_runs(const std::vector<RunSession*>& runs) override;
  void refresh() override;
  bool settled() const override;

  // Access for tests.
  PlotView& up_plot() { return *up_.plot; }
  PlotView& down_plot() { return *down_.plot; }
  PlotView& uses_plot(bool up) { return *(up ? up_ : down_).uses.plot; }
  PlotView& agents_plot() { return *agents_; }
  PlotView& links_plot() { return *links_; }
  // The line above the charts, as HTML.
  QString totals() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  // The curves of one link, converted to the other kind of axis.
  struct DirectionSeries {
    FollowingSeries bytes_over_time = {};
    FollowingSeries rate = {};
    FollowingSeries rate_over_rounds = {};
  };
  struct BothDirections {
    DirectionSeries directions[2] = {};  // up, down
  };

  // The chart of the messages of one direction, by use.
  struct Uses {
    PlotView* plot = nullptr;
    MessageStack stack = {};
    CurveList curves = {};
    QString empty_text = {};
  };
  struct Direction {
    PlotView* plot = nullptr;
    CurveList curves = {};
    Uses uses = {};
  };

  QWidget* make_tools();
  void show_totals();
  void show_rounds();
  void show_uses(Uses& uses);
  void show_agents();
  void show_links();
  SharedSeries rate_of(const LinkCurves& link, DirectionSeries& direction);
  bool down() const;  // the direction shown for agents and links
  const RunSession* first() const { return runs_.empty() ? nullptr : runs_.front(); }
  std::vector<std::string> agents_shown() const;
  void show_agent_count(std::size_t shown);

  std::vector<RunSession*> runs_;
  std::map<std::string, BothDirections> of_agents_;  // for the first run and its selected job
  std::pair<const RunSession*, std::uint64_t> of_{};
  QLabel* totals_ = nullptr;
  QComboBox* direction_ = nullptr;
  QLabel* agents_note_ = nullptr;
  Direction up_;
  Direction down_;
  PlotView* agents_ = nullptr;
  PlotView* links_ = nullptr;
  CurveList agent_curves_;
  CurveList link_curves_;
};

}  // namespace tributary::dashboard
