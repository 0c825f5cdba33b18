// The page of the planner's decisions: which codec, ratio and collective were chosen, when, and
// why. It shows the selected job of the first run.
//
// Plans are read on the run's thread, one at a time; the page requests them by
// RunSession::ask_round().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dashboard/pages/common/run_page.h"
#include "dashboard/pages/decisions/decisions_model.h"
#include "dashboard/pages/plan/choices.h"
#include "dashboard/tables/table_view.h"

namespace tributary::dashboard {

class DecisionPictures;
class DecisionView;

class DecisionsPage : public RunPage {
  Q_OBJECT

 public:
  explicit DecisionsPage(PageContext& context, QWidget* parent = nullptr);
  ~DecisionsPage() override;

  QString name() const override { return "decisions"; }
  QString title() const override { return "Decisions"; }
  void refresh() override;
  bool settled() const override;
  void show_round(std::uint64_t round) override { choose(round); }

  // Returns the round shown: the chosen one, otherwise that of the newest decision. Empty if there
  // is none.
  std::optional<std::uint64_t> round() const;
  // Selects a round; empty returns to the newest decision.
  void choose(std::optional<std::uint64_t> round);

  // Access for tests.
  DecisionPictures& pictures() { return *pictures_; }
  DecisionView& decision() { return *decision_; }
  TableView& table() { return *table_view_; }

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;

 private:
  void lay_out();
  void forget();
  const RoundTable* rounds() const;  // null: no rounds to show
  QString why_nothing() const;
  void say_why_nothing();
  void list_decisions(const RoundTable& table);
  void show_chosen();
  void ask_next();
  // Receives the details of a round, possibly requested by another page.
  void take(const std::shared_ptr<const RoundDetail>& detail);
  void take_belief(const std::shared_ptr<const DecisionBelief>& belief);
  // Draws new beliefs when all plans have been read, or many of them.
  void draw_beliefs();
  void take_failure(std::uint64_t round, const QString& why);

  DecisionPictures* pictures_ = nullptr;
  DecisionView* decision_ = nullptr;
  DecisionsModel decisions_;
  TableView* table_view_ = nullptr;

  std::uint64_t job_ = 0;
  const RoundTable* seen_ = nullptr;
  std::uint64_t rounds_seen_ = 0;  // revisions that were drawn last
  std::uint64_t links_seen_ = 0;
  std::uint64_t jobs_seen_ = 0;
  bool over_time_seen_ = false;
  std::vector<Choice> choices_;
  std::optional<std::uint64_t> chosen_;
  std::optional<std::uint64_t> asked_;           // requested, without an answer yet
  std::shared_ptr<const RoundDetail> detail_;    // the plan in which the round shown was decided
  std::map<std::uint64_t, QString> unreadable_;  // rounds without a readable plan, with the reason
};

}  // namespace tributary::dashboard
