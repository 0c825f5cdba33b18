#include "dashboard/tables/choices_model.h"

#include <algorithm>
#include <deque>

#include "dashboard/run/run_view.h"

namespace tributary::dashboard {
namespace {

enum ChoiceColumn : int {
  kChoiceRound,
  kChoiceTime,
  kChoiceCodec,
  kChoiceCollective,
  kChoiceRatio,
  kChoiceTrigger,
  kChoicePredicted,
  kChoiceSentence,
};

std::vector<TableColumn> choice_columns() {
  constexpr auto kNumber = CellKind::number;
  return {
      {"round", "Round", kNumber, Unit::count, "From which on it is done so", true},
      {"time", "Time", kNumber, Unit::wall_time, "When that round began", true},
      {"codec", "Codec", CellKind::text, Unit::one, "", true},
      {"collective", "Collective", CellKind::text, Unit::one, "", true},
      {"ratio", "Ratio", kNumber, Unit::share, "What is kept of an update", true},
      {"trigger", "Trigger", CellKind::text, Unit::one, "What made the planner think again", true},
      {"predicted", "Predicted", kNumber, Unit::seconds, "The round's time, by the plan", true},
      {"reason", "Reason", CellKind::text, Unit::one, "The plan's sentence, once it is opened",
       true},
  };
}

bool is_planned(const RoundTable& rounds, std::size_t row) { return rounds.codec[row] != 0; }

bool is_done_alike(const RoundTable& rounds, std::size_t a, std::size_t b) {
  return rounds.codec[a] == rounds.codec[b] && rounds.collective[a] == rounds.collective[b] &&
         same_number(rounds.ratio[a], rounds.ratio[b]);
}

// Rows of the table; a round whose plan is not known is taken to be done as before.
std::deque<std::size_t> changes_of(const RoundTable& rounds) {
  std::deque<std::size_t> changes;
  std::size_t before = rounds.size();
  for (std::size_t row = 0; row < rounds.size(); ++row) {
    if (!is_planned(rounds, row)) continue;
    if (before == rounds.size() || !is_done_alike(rounds, before, row)) changes.push_back(row);
    if (changes.size() > ChoicesModel::kChoicesMax) changes.pop_front();
    before = row;
  }
  return changes;
}

}  // namespace

ChoicesModel::ChoicesModel(QObject* parent) : RowsModel(choice_columns(), parent) {}

void ChoicesModel::update(const RoundTable& rounds, std::int64_t base_wall_ns) {
  base_wall_ns_ = base_wall_ns;
  std::vector<ChoiceRow> now;
  for (const std::size_t row : changes_of(rounds)) {
    const auto told = sentences_.find(rounds.round[row]);
    now.push_back({.round = rounds.round[row],
                   .began_s = rounds.began_s[row],
                   .codec = rounds.codecs.name(rounds.codec[row]),
                   .collective = rounds.collectives.name(rounds.collective[row]),
                   .ratio = rounds.ratio[row],
                   .trigger = rounds.triggers.name(rounds.trigger[row]),
                   .predicted_s = rounds.predicted_s[row],
                   .sentence = told == sentences_.end() ? std::string() : told->second});
  }
  show_rows(std::move(now));
}

void ChoicesModel::tell_sentence(std::uint64_t round, const std::string& sentence) {
  if (sentences_.size() >= kChoicesMax && !sentences_.contains(round)) {
    sentences_.erase(sentences_.begin());
  }
  sentences_[round] = sentence;
  std::vector<ChoiceRow> now = rows();
  const auto found = std::ranges::find(now, round, &ChoiceRow::round);
  if (found == now.end()) return;
  found->sentence = sentence;
  show_rows(std::move(now));
}

void ChoicesModel::clear() {
  sentences_.clear();
  show_rows({});
}

int ChoicesModel::row_of(std::uint64_t round) const {
  const auto above = std::ranges::upper_bound(rows(), round, {}, &ChoiceRow::round);
  return static_cast<int>(above - rows().begin()) - 1;
}

bool ChoicesModel::same_thing(const ChoiceRow& a, const ChoiceRow& b) const {
  return a.round == b.round;
}

bool ChoicesModel::looks_same(const ChoiceRow& a, const ChoiceRow& b) const {
  return a.codec == b.codec && a.collective == b.collective && a.trigger == b.trigger &&
         a.sentence == b.sentence && same_number(a.ratio, b.ratio) &&
         same_number(a.predicted_s, b.predicted_s) && same_number(a.began_s, b.began_s);
}

double ChoicesModel::number(int row, int column) const {
  const ChoiceRow& choice = row_at(row);
  switch (column) {
    case kChoiceRound:
      return static_cast<double>(choice.round);
    case kChoiceTime:
      return static_cast<double>(base_wall_ns_) / 1e9 + choice.began_s;
    case kChoiceRatio:
      return choice.ratio;
    case kChoicePredicted:
      return choice.predicted_s;
    default:
      return kUnknown;
  }
}

std::string_view ChoicesModel::words(int row, int column) const {
  const ChoiceRow& choice = row_at(row);
  switch (column) {
    case kChoiceCodec:
      return choice.codec;
    case kChoiceCollective:
      return choice.collective;
    case kChoiceTrigger:
      return choice.trigger;
    case kChoiceSentence:
      return choice.sentence;
    default:
      return {};
  }
}

}  // namespace tributary::dashboard
