// Which codec, ratio and collective, when, and why: the planner's choices of the first run's job.
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

  // The round that is looked at: the one that was chosen, or else the newest decision.
  std::optional<std::uint64_t> round() const;
  void choose(std::optional<std::uint64_t> round);

  DecisionPictures& pictures() { return *pictures_; }
  DecisionView& decision() { return *decision_; }
  TableView& table() { return *table_view_; }

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;

 private:
  void lay_out();
  void forget();
  const RoundTable* rounds() const;  // null: there is nothing to show
  QString why_nothing() const;
  void say_why_nothing();
  void list_decisions(const RoundTable& table);
  void show_chosen();
  void ask_next();
  void take(const std::shared_ptr<const RoundDetail>& detail);
  void take_failure(std::uint64_t round, const QString& why);

  DecisionPictures* pictures_ = nullptr;
  DecisionView* decision_ = nullptr;
  DecisionsModel decisions_;
  TableView* table_view_ = nullptr;

  std::uint64_t job_ = 0;
  const RoundTable* seen_ = nullptr;
  std::uint64_t rounds_seen_ = 0;  // revisions
  std::uint64_t links_seen_ = 0;
  std::uint64_t jobs_seen_ = 0;
  bool over_time_seen_ = false;
  std::vector<Choice> choices_;
  std::optional<std::uint64_t> chosen_;
  std::optional<std::uint64_t> asked_;           // and not answered yet
  std::shared_ptr<const RoundDetail> detail_;    // of the round in which what is shown was decided
  std::map<std::uint64_t, QString> unreadable_;  // rounds, and why
};

}  // namespace tributary::dashboard
