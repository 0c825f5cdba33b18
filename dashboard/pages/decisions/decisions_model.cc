#include "dashboard/pages/decisions/decisions_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tributary::dashboard {
namespace {

enum DecisionColumn : int {
  kDecisionRound,
  kDecisionFrom,
  kDecisionTo,
  kDecisionTrigger,
  kDecisionRegret,
  kDecisionSentence,
};

std::vector<TableColumn> decision_columns() {
  return {
      {"round", "Round", CellKind::number, Unit::count, "First round of the decision", true},
      {"from", "From", CellKind::text, Unit::one, "", false},
      {"to", "To", CellKind::text, Unit::one, "", true},
      {"because", "Because", CellKind::text, Unit::one, "Event that triggered the decision", true},
      {"regret", "Regret", CellKind::number, Unit::seconds,
       "Time lost per round by this choice, by the belief of the next decision", true},
      {"reason", "Reason", CellKind::text, Unit::one, "Reason stated in the plan", true},
  };
}

}  // namespace

DecisionsModel::DecisionsModel(QObject* parent) : RowsModel(decision_columns(), parent) {}

// Sentences are read separately, one plan at a time, and are kept while their decision is listed.
void DecisionsModel::update(std::vector<Decision> decisions) {
  for (Decision& decision : decisions) {
    const auto known_sentence = sentences_.find(decision.round);
    decision.sentence = known_sentence == sentences_.end() ? std::string() : known_sentence->second;
  }
  show_rows(std::move(decisions));
}

void DecisionsModel::set_sentence(std::uint64_t round, const std::string& sentence) {
  std::vector<Decision> now = rows();
  const int row = row_of(round);
  if (row < 0) return;
  // Reasons of decisions that have left the table are no longer needed.
  sentences_.erase(sentences_.begin(), sentences_.lower_bound(now.front().round));
  sentences_[round] = sentence;
  now[static_cast<std::size_t>(row)].sentence = sentence;
  show_rows(std::move(now));
}

void DecisionsModel::clear() {
  sentences_.clear();
  show_rows({});
}

// Rows ascend by round.
int DecisionsModel::row_of(std::uint64_t round) const {
  const auto found = std::ranges::lower_bound(rows(), round, {}, &Decision::round);
  if (found == rows().end() || found->round != round) return -1;
  return static_cast<int>(found - rows().begin());
}

// The newest ones first, because they are looked at first.
std::optional<std::uint64_t> DecisionsModel::without_sentence() const {
  for (auto newest = rows().rbegin(); newest != rows().rend(); ++newest) {
    if (!sentences_.contains(newest->round)) return newest->round;
  }
  return std::nullopt;
}

bool DecisionsModel::same_item(const Decision& a, const Decision& b) const {
  return a.round == b.round;
}

bool DecisionsModel::same_values(const Decision& a, const Decision& b) const {
  return a.from == b.from && a.to == b.to && a.trigger == b.trigger && a.sentence == b.sentence &&
         a.switched == b.switched &&
         (a.regret_s == b.regret_s || (std::isnan(a.regret_s) && std::isnan(b.regret_s)));
}

double DecisionsModel::number(int row, int column) const {
  if (column == kDecisionRound) return static_cast<double>(row_at(row).round);
  return column == kDecisionRegret ? row_at(row).regret_s
                                   : std::numeric_limits<double>::quiet_NaN();
}

std::string_view DecisionsModel::words(int row, int column) const {
  const Decision& decision = row_at(row);
  switch (column) {
    case kDecisionFrom:
      return decision.from;
    case kDecisionTo:
      return decision.switched || decision.from.empty() ? std::string_view(decision.to) : "stays";
    case kDecisionTrigger:
      return decision.trigger;
    case kDecisionSentence:
      return decision.sentence;
    default:
      return {};
  }
}

CellMark DecisionsModel::mark(int row, int /*column*/) const {
  return row_at(row).switched ? CellMark::chosen : CellMark::none;
}

}  // namespace tributary::dashboard
