// What was sent, up and down: in total and by each agent, against what it would have been without
// compression, what the messages were for, and how fast the coordinator's ways were.
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
  static constexpr std::size_t kAgentsMax = 24;  // in a picture

  explicit TrafficPage(PageContext& context, QWidget* parent = nullptr);
  ~TrafficPage() override;

  QString name() const override { return "traffic"; }
  QString title() const override { return "Traffic"; }
  void set_runs(const std::vector<RunSession*>& runs) override;
  void refresh() override;
  bool settled() const override;

  // For those who look at it.
  PlotView& up_plot() { return *up_.plot; }
  PlotView& down_plot() { return *down_.plot; }
  PlotView& uses_plot(bool up) { return *(up ? up_ : down_).uses.plot; }
  PlotView& agents_plot() { return *agents_; }
  PlotView& links_plot() { return *links_; }
  QString totals() const;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  // Curves over the axis that they do not come with.
  struct OfWay {
    FollowingSeries bytes_over_time = {};
    FollowingSeries rate = {};
    FollowingSeries rate_over_rounds = {};
  };
  struct OfAgent {
    OfWay ways[2] = {};  // up, down
  };

  // Messages of one direction by their use.
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
  SharedSeries rate_of(const LinkCurves& link, OfWay& way);
  bool down() const;  // rather than up
  const RunSession* first() const { return runs_.empty() ? nullptr : runs_.front(); }
  std::vector<std::string> agents_shown() const;
  void tell_agents_shown(std::size_t shown);

  std::vector<RunSession*> runs_;
  std::map<std::string, OfAgent> of_agents_;  // of the first run and its job
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
