// The table of the rounds with decisions. GUI thread only.
//
// Reasons are read later than the rounds, one at a time, because each needs its plan from the
// journal. The model keeps every reason that it was given. Not bounded by itself: it has as many
// rows as the table of rounds has decisions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "dashboard/pages/plan/choices.h"
#include "dashboard/tables/models/rows_model.h"

namespace tributary::dashboard {

class DecisionsModel : public RowsModel<Decision> {
 public:
  explicit DecisionsModel(QObject* parent = nullptr);

  // `decisions` must be sorted by round. Their sentences are ignored; the model keeps its own.
  void update(std::vector<Decision> decisions);
  // Sets the reason of a decision. A RoundTable does not contain it; a RoundDetail does.
  void set_sentence(std::uint64_t round, const std::string& sentence);
  void clear();

  int row_of(std::uint64_t round) const;  // -1: no such decision
  // Returns the newest round whose reason has not been set.
  std::optional<std::uint64_t> without_sentence() const;

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_item(const Decision& a, const Decision& b) const override;
  bool same_values(const Decision& a, const Decision& b) const override;

 private:
  // The known reasons, by round. They survive update().
  std::map<std::uint64_t, std::string> sentences_;
};

}  // namespace tributary::dashboard
