// Selects rows by a line that the user typed: words that must all occur in a row, anywhere or in
// one column ("state:away", "text:\"ended its session\""). Case is ignored. Quotation marks keep
// spaces in a word; one that is not closed extends to the end of the line.
//
// A filter is an immutable value; parsing never fails. accepts() does not modify the model.
#pragma once

#include <QString>
#include <vector>

#include "dashboard/tables/cells/table_model.h"

namespace tributary::dashboard {

class TableFilter {
 public:
  static constexpr qsizetype kCharactersMax = 500;  // the rest of the line is ignored
  static constexpr std::size_t kTermsMax = 16;      // further words are ignored

  TableFilter() = default;
  // The text before a colon names a column if it equals a column's key or title, or is the
  // beginning of exactly one key. Otherwise the colon is part of the word.
  TableFilter(const QString& line, const std::vector<TableColumn>& columns);

  bool empty() const { return terms_.empty(); }
  // Whether all words occur in the row. An empty filter accepts every row.
  bool accepts(const TableModel& model, int row) const;

 private:
  struct Term {
    int column = -1;  // -1: any column
    QString words = {};
  };

  std::vector<Term> terms_;
};

}  // namespace tributary::dashboard
