// The page of one round over all agents: how long each one computed, encoded and waited, which were
// left out, and the numbers of the round. It follows the newest round until the user chooses one.
//
// A round is read on the session's thread: moving fast through rounds never blocks. At most one
// request is open. GUI thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dashboard/pages/common/run_page.h"
#include "dashboard/pages/round/round_agents_model.h"
#include "dashboard/pages/round/round_bar.h"
#include "dashboard/pages/round/round_rows.h"
#include "dashboard/pages/round/round_side.h"
#include "dashboard/plot/plot_view.h"
#include "dashboard/tables/table_view.h"

class QLabel;

namespace tributary::dashboard {

class RoundPage : public RunPage {
  Q_OBJECT

 public:
  // Limit of the rows in the Gantt chart, which shows the slowest agents. Fewer rows are drawn if
  // their names do not fit. The table lists all agents.
  static constexpr std::size_t kGanttRowsMax = 40;

  explicit RoundPage(PageContext& context, QWidget* parent = nullptr);
  ~RoundPage() override;

  QString name() const override { return "round"; }
  QString title() const override { return "Round"; }
  void refresh() override;
  bool settled() const override;
  void show_round(std::uint64_t round) override { choose(round); }

  // Returns the selected round: the chosen one, otherwise the newest. Empty without any round.
  // An empty round returns to following the newest.
  std::optional<std::uint64_t> requested_round() const;
  void choose(std::optional<std::uint64_t> round);
  // Moves by `rounds` rows of the table of committed rounds.
  void step(int rounds);
  bool follows_newest() const { return !choice_.chosen; }

  // Access for tests. The shown round follows requested_round() after the round has been read.
  const RoundDetail* detail() const { return detail_.get(); }
  const RoundRows& rows() const { return rows_; }
  QString message() const;
  PlotView& picture() { return *picture_; }
  TableView& table() { return *table_; }

 protected:
  void take_run() override;
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // The chosen round (empty: the newest), the round requested, and the one that could not be read.
  struct Choice {
    std::optional<std::uint64_t> chosen = {};
    std::optional<std::uint64_t> asked = {};
    std::optional<std::uint64_t> failed = {};
  };
  // The state of the run that has been drawn.
  struct Seen {
    const RoundTable* table = nullptr;
    std::uint64_t rounds = 0;  // revision of the table
    std::uint64_t events = 0;  // revision of the events
  };

  void bind_keys();
  void forget();
  const RoundTable* table_of_rounds() const;
  QString why_nothing() const;
  void show_place();
  void ask();
  void take(const std::shared_ptr<const RoundDetail>& detail);
  void take_failure(std::uint64_t round, const QString& why);
  void show_detail();
  std::size_t rows_that_fit() const;
  // Returns whether the list of faults has changed.
  bool look_up_moments();
  void show_rows();
  void show_facts();
  void show_nothing(const QString& why);
  bool held() const;

  PlotGroup group_;
  PlotView* picture_ = nullptr;
  RoundBar* bar_ = nullptr;
  QLabel* message_ = nullptr;
  QLabel* note_ = nullptr;
  RoundSide* side_ = nullptr;
  RoundAgentsModel agents_;
  TableView* table_ = nullptr;

  std::uint64_t job_ = 0;
  Seen seen_;
  Choice choice_;
  std::shared_ptr<const RoundDetail> detail_ = {};
  std::vector<RoundMoment> moments_ = {};
  RoundRows rows_ = {};
};

}  // namespace tributary::dashboard
