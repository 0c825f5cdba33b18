// A page of the dashboard. It shows runs, and knows neither the window around it nor other pages:
// what it wants of them it says by signals.
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

// What pages have in common: pictures over rounds or over time are zoomed together, and a key has
// one colour wherever it is.
class PageContext : public QObject {
  Q_OBJECT

 public:
  explicit PageContext(QObject* parent = nullptr) : QObject(parent), group_(this) {}

  PlotGroup& group() { return group_; }
  bool over_time() const { return over_time_; }
  // Time is counted from a run's first moment, so that runs of different days lie over one another.
  AxisText x_axis() const {
    return over_time_ ? AxisText{"Time since the start", Unit::seconds}
                      : AxisText{"Round", Unit::count};
  }
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

  // As --page takes it: "overview".
  virtual QString name() const = 0;
  virtual QString title() const = 0;
  // Those that are open, in the order of their opening; pages of one run show the first. They
  // outlive the call, and set_runs() comes before one of them goes.
  virtual void set_runs(const std::vector<RunSession*>& runs) = 0;
  // Something has changed in a run: 30 times a second at most. Cheap where nothing of it is shown.
  virtual void refresh() = 0;
  // Whether all that it is to show is there: what a picture of it waits for.
  virtual bool settled() const { return true; }
  // What another page wanted to be seen; those that show no such thing pass it over.
  virtual void show_round(std::uint64_t /*round*/) {}
  virtual void show_agent(const QString& /*agent_id*/) {}

 signals:
  void round_wanted(std::uint64_t round);  // in detail, of the first run
  void agent_wanted(const QString& agent_id);
  void moment_wanted(double round, double time_s);  // in the pictures

 protected:
  PageContext& context() const { return context_; }

 private:
  PageContext& context_;
};

}  // namespace tributary::dashboard
