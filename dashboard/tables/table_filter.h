// Which rows a person wants to see, as typed: words that must all be in a row, anywhere or in one
// column ("state:away", "text:\"said goodbye\""). Case does not matter.
#pragma once

#include <QString>
#include <vector>

#include "dashboard/tables/cells/table_model.h"

namespace tributary::dashboard {

class TableFilter {
 public:
  static constexpr qsizetype kCharactersMax = 500;
  static constexpr std::size_t kTermsMax = 16;  // those beyond do not count

  TableFilter() = default;
  // What stands before a colon is a column if one is called so, or begins so and no other does;
  // else it is part of the word.
  TableFilter(const QString& line, const std::vector<TableColumn>& columns);

  bool empty() const { return terms_.empty(); }
  bool accepts(const TableModel& model, int row) const;

 private:
  struct Term {
    int column = -1;  // any
    QString words = {};
  };

  std::vector<Term> terms_;
};

}  // namespace tributary::dashboard
