// The first page: whether each run learns, what it costs, and whether anything is wrong.
//
// It shows all open runs, in the order in which they were opened. Derived curves are kept per run
// and grow with its rounds; each refresh costs time in proportion to the new rounds. GUI thread
// only.
#pragma once

#include <map>
#include <memory>

#include "dashboard/pages/common/curve_list.h"
#include "dashboard/pages/common/following_series.h"
#include "dashboard/pages/common/page.h"
#include "dashboard/pages/overview/jobs_panel.h"
#include "dashboard/plot/plot_view.h"

class QComboBox;
class QPlainTextEdit;
class QToolButton;

namespace tributary::dashboard {

class OverviewPage : public Page {
  Q_OBJECT

 public:
  explicit OverviewPage(PageContext& context, QWidget* parent = nullptr);
  ~OverviewPage() override;

  QString name() const override { return "overview"; }
  QString title() const override { return "Overview"; }
  void set_runs(const std::vector<RunSession*>& runs) override;
  void refresh() override;
  bool settled() const override;

  // Access for tests.
  PlotView& accuracy_plot() { return *accuracy_; }
  PlotView& loss_plot() { return *loss_; }
  PlotView& saved_plot() { return *saved_; }
  JobsPanel& jobs() { return *jobs_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  struct OfRun;

  QWidget* make_tools();
  void choose_job(const QString& run_key, std::uint64_t job);
  void show_jobs();
  void show_curves();
  void show_alerts();

  std::vector<RunSession*> runs_;
  // Derived curves of each open run.
  std::map<const RunSession*, std::unique_ptr<OfRun>> of_runs_;
  double smoothing_ = 0;
  JobsPanel* jobs_ = nullptr;
  QComboBox* smoothing_box_ = nullptr;
  PlotView* accuracy_ = nullptr;
  PlotView* loss_ = nullptr;
  PlotView* saved_ = nullptr;
  QPlainTextEdit* alerts_ = nullptr;
  CurveList accuracy_curves_;
  CurveList loss_curves_;
  CurveList saved_curves_;
};

}  // namespace tributary::dashboard
