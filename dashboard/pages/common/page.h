// The base of all pages. A page shows runs; it knows neither the window nor other pages and makes
// requests to them by signals. GUI thread only.
//
// A page owns its widgets and models but no run: it gets pointers by set_runs() and must not use
// them after the next call. Pages read views and change nothing in a run; all requests to a
// coordinator go through the control page.
#pragma once

#include <QString>
#include <QWidget>
#include <cstdint>
#include <memory>
#include <vector>

#include "dashboard/plot/data/plot_data.h"
#include "dashboard/plot/plot_group.h"
#include "dashboard/session/run_session.h"

namespace tributary::dashboard {

// The state that all pages share: the kind of x axis and the plot group. Charts over the same axis
// are zoomed together, and a key has the same colour on all pages.
class PageContext : public QObject {
  Q_OBJECT

 public:
  explicit PageContext(QObject* parent = nullptr) : QObject(parent), group_(this) {}

  PlotGroup& group() { return group_; }
  // Gives each run and then each agent its colour, in the order of opening and of first connection.
  // Called before pages are drawn, so that no page determines the order.
  void give_colours(const std::vector<RunSession*>& runs);
  // The kind of x axis: time if true, otherwise rounds.
  bool over_time() const { return over_time_; }
  // Time counts from the start of each run, so that runs of different days can be compared.
  AxisText x_axis() const {
    return over_time_ ? AxisText{"Time since the start", Unit::seconds}
                      : AxisText{"Round", Unit::count};
  }
  // Changes the kind of x axis and resets the zoom, whose extent has no meaning on the other axis.
  void set_over_time(bool on) {
    if (on == over_time_) return;
    over_time_ = on;
    group_.x_axis().fit();
    emit axis_changed();
  }

 signals:
  void axis_changed();

 private:
  PlotGroup group_;
  bool over_time_ = false;
};

class Page : public QWidget {
  Q_OBJECT

 public:
  explicit Page(PageContext& context, QWidget* parent = nullptr)
      : QWidget(parent), context_(context) {}

  // The name for --page, for example "overview".
  virtual QString name() const = 0;
  // The title of the page's tab.
  virtual QString title() const = 0;
  // Sets the open runs, in the order in which they were opened. Pages of one run show the first.
  // The runs stay valid until the next call of set_runs().
  virtual void set_runs(const std::vector<RunSession*>& runs) = 0;
  // Called after a change in any run, at most 30 times per second. Must be cheap when nothing of
  // the change is visible.
  virtual void refresh() = 0;
  // Whether everything that the page will show has been loaded. A picture of the page waits for it.
  virtual bool settled() const { return true; }
  // Requests from another page. A page that shows no rounds or no agents ignores them.
  virtual void show_round(std::uint64_t /*round*/) {}
  virtual void show_agent(const QString& /*agent_id*/) {}

 signals:
  void round_requested(std::uint64_t round);  // show its details, in the first run
  void agent_requested(const QString& agent_id);
  void moment_requested(double round, double time_s);  // mark it in the charts

 protected:
  PageContext& context() const { return context_; }

 private:
  PageContext& context_;
};

}  // namespace tributary::dashboard
