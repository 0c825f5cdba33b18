// The page of the aggregators in the network: where they stand between the agents and the
// coordinator, what they have installed, and how the job's rounds were summed.
//
// It shows the first run. It changes at most four times a second and only while it is visible. The
// reason of the newest round by the star comes from its plan, which is read on request. The page
// owns its model and widgets. GUI thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dashboard/pages/aggregator/aggregator_facts.h"
#include "dashboard/pages/aggregator/aggregators_model.h"
#include "dashboard/pages/aggregator/topology_view.h"
#include "dashboard/pages/common/run_page.h"
#include "dashboard/pages/common/table_clock.h"
#include "dashboard/tables/table_view.h"

class QLabel;
class QPlainTextEdit;

namespace tributary::dashboard {

class AggregatorPage : public RunPage {
  Q_OBJECT

 public:
  explicit AggregatorPage(PageContext& context, QWidget* parent = nullptr);

  QString name() const override { return "aggregator"; }
  QString title() const override { return "Aggregator"; }
  void refresh() override;
  bool settled() const override;

  // Access for tests.
  TableView& table() { return *table_; }
  AggregatorsModel& model() { return model_; }
  TopologyView& topology() { return *topology_; }
  QString summary() const;    // how rounds were summed
  QString incidents() const;  // newest first

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;

 private:
  // The answer to a request for the plan of a round by the star.
  struct StarReason {
    std::uint64_t round = 0;
    QString text = {};
  };

  std::vector<std::uint64_t> revisions() const;
  void update_now();
  void forget();
  void ask_reason();
  void take(const std::shared_ptr<const RoundDetail>& detail);
  void take_failure(std::uint64_t round, const QString& why);
  void show_topology();
  void show_summary();
  void show_incidents();

  AggregatorsModel model_;
  TopologyView* topology_ = nullptr;
  QLabel* summary_ = nullptr;
  TableView* table_ = nullptr;
  QPlainTextEdit* incidents_ = nullptr;
  TableClock clock_;
  ShownRevisions seen_;
  std::vector<std::uint64_t> shown_;  // the revisions that facts_ is made of
  std::uint64_t job_ = 0;
  AggregatorFacts facts_;
  std::optional<std::uint64_t> asked_;
  std::optional<StarReason> reason_;
};

}  // namespace tributary::dashboard
