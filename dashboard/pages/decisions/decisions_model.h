// The rounds in which something was decided, as a table.
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

  // The oldest first; what they say of their sentences is passed over.
  void update(std::vector<Decision> decisions);
  // The table of rounds does not have it; a RoundDetail does.
  void tell_sentence(std::uint64_t round, const std::string& sentence);
  void clear();

  int row_of(std::uint64_t round) const;  // -1: none
  // The newest whose sentence nobody has told.
  std::optional<std::uint64_t> without_sentence() const;

  double number(int row, int column) const override;
  std::string_view words(int row, int column) const override;
  CellMark mark(int row, int column) const override;

 protected:
  bool same_thing(const Decision& a, const Decision& b) const override;
  bool looks_same(const Decision& a, const Decision& b) const override;

 private:
  std::map<std::uint64_t, std::string> sentences_;
};

}  // namespace tributary::dashboard
