// Shows one decision: its reason, the alternatives and the inputs of the planner. GUI thread only.
//
// The owner calls show_facts() at once and show_detail() or show_failure() when the plan has been
// read. The detail is shared and immutable; the view keeps it until the next call.
#pragma once

#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>

#include "dashboard/pages/plan/decision_facts.h"
#include "dashboard/pages/plan/inputs_model.h"
#include "dashboard/plot/plot_view.h"
#include "dashboard/tables/models/alternatives_model.h"
#include "dashboard/tables/table_view.h"

class QLabel;
class QPushButton;
class QTabWidget;

namespace tributary::dashboard {

class DecisionView : public QWidget {
  Q_OBJECT

 public:
  // The colours must outlive the view.
  explicit DecisionView(ColourSlots& colours, QWidget* parent = nullptr);

  ~DecisionView() override;

  // Shows no decision; `why` is the explanation.
  void show_nothing(const QString& why);
  // Shows what is known without the plan, while the plan is read.
  void show_facts(const DecisionFacts& facts);
  void show_detail(const DecisionFacts& facts, std::shared_ptr<const RoundDetail> detail);
  void show_failure(const DecisionFacts& facts, const QString& why);

  // Shows what was believed of the choice, below what came of it.
  void show_belief(const QString& text);

  // Access for tests.
  QString heading() const;
  QString sentence() const;
  QString times() const;
  QString belief() const;
  const RoundDetail* detail() const { return detail_.get(); }
  PlotView& picture() { return *picture_; }
  TableView& alternatives() { return *alternatives_view_; }
  TableView& inputs() { return *inputs_view_; }

 signals:
  void round_requested(std::uint64_t round);

 private:
  void clear_detail(const QString& sentence);
  void list_alternatives();
  void list_inputs();
  void draw(std::optional<std::size_t> selected);

  // The Pareto chart has an axis of its own, so it does not share the pages' group.
  PlotGroup group_;
  QLabel* heading_ = nullptr;
  QLabel* times_ = nullptr;
  QLabel* belief_ = nullptr;
  QLabel* sentence_ = nullptr;
  QPushButton* open_ = nullptr;
  PlotView* picture_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  AlternativesModel alternatives_;
  InputsModel inputs_;
  TableView* alternatives_view_ = nullptr;
  TableView* inputs_view_ = nullptr;
  std::uint64_t round_ = 0;
  std::shared_ptr<const RoundDetail> detail_ = {};
};

// Returns a pointer to the colours without ownership. The colours must outlive every copy.
std::shared_ptr<ColourSlots> borrowed(ColourSlots& colours);

}  // namespace tributary::dashboard
