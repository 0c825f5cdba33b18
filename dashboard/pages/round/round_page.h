// One round over all agents: who computed, encoded and waited for how long, who was left out, and
// the round's numbers. Follows the newest round until one is chosen.
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
  // Of the slowest agents so many have a row in the picture at most, and no more than can have
  // their names beside them; the table has all.
  static constexpr std::size_t kGanttRowsMax = 40;

  explicit RoundPage(PageContext& context, QWidget* parent = nullptr);
  ~RoundPage() override;

  QString name() const override { return "round"; }
  QString title() const override { return "Round"; }
  void refresh() override;
  bool settled() const override;
  void show_round(std::uint64_t round) override { choose(round); }

  // The round that is wanted: the chosen one, or the newest. None: follow the newest.
  std::optional<std::uint64_t> wanted() const;
  void choose(std::optional<std::uint64_t> round);
  void step(int rounds);
  bool follows_newest() const { return !choice_.chosen; }

  // What is shown, which comes a little after what is wanted.
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
  // Which round is chosen (none: the newest), asked for, and could not be read.
  struct Choice {
    std::optional<std::uint64_t> chosen = {};
    std::optional<std::uint64_t> asked = {};
    std::optional<std::uint64_t> failed = {};
  };
  // Of the run, what is shown already.
  struct Seen {
    const RoundTable* table = nullptr;
    std::uint64_t rounds = 0;  // the table's revision
    std::uint64_t events = 0;  // likewise
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
  // Whether what is known of it is other than before.
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
