#include "dashboard/tables/table_filter.h"

#include <algorithm>

#include "dashboard/tables/cells/shown_text.h"

namespace tributary::dashboard {
namespace {

// Splits at white space, except inside quotation marks. The quotation marks are removed.
std::vector<QString> words_of(const QString& line) {
  std::vector<QString> words;
  QString word;
  bool quoted = false;
  const auto finish = [&] {
    if (!word.isEmpty()) words.push_back(std::move(word));
    word = {};
  };
  for (const QChar c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c.isSpace() && !quoted) {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  return words;
}

// A column is named by its key or its title.
bool called(const TableColumn& column, const QString& name) {
  return column.key.compare(name, Qt::CaseInsensitive) == 0 ||
         column.title.compare(name, Qt::CaseInsensitive) == 0;
}

// Returns -1 if no column matches or if the beginning is ambiguous.
int column_called(const QString& name, const std::vector<TableColumn>& columns) {
  if (name.isEmpty()) return -1;
  int found = -1;
  int begin_so = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].kind == CellKind::curve) continue;
    if (called(columns[i], name)) return static_cast<int>(i);
    if (!columns[i].key.startsWith(name, Qt::CaseInsensitive)) continue;
    found = static_cast<int>(i);
    ++begin_so;
  }
  return begin_so == 1 ? found : -1;
}

bool cell_has(const TableModel& model, int row, int column, const QString& words) {
  const TableColumn& of = model.columns()[static_cast<std::size_t>(column)];
  switch (of.kind) {
    case CellKind::text:
    case CellKind::rank:
      return whole_text(model.words(row, column)).contains(words, Qt::CaseInsensitive);
    case CellKind::number:
      return model.number_text(row, column).contains(words, Qt::CaseInsensitive);
    case CellKind::curve:
      break;
  }
  return false;
}

// Searches only cells whose kind is, or is not, a number.
bool any_cell_has(const TableModel& model, int row, bool of_numbers, const QString& words) {
  for (int column = 0; column < model.columnCount(); ++column) {
    const CellKind kind = model.columns()[static_cast<std::size_t>(column)].kind;
    if ((kind == CellKind::number) == of_numbers && cell_has(model, row, column, words)) {
      return true;
    }
  }
  return false;
}

}  // namespace

// A colon after a word that names no column is an ordinary character.
TableFilter::TableFilter(const QString& line, const std::vector<TableColumn>& columns) {
  for (const QString& word : words_of(line.left(kCharactersMax))) {
    if (terms_.size() == kTermsMax) return;
    const qsizetype colon = word.indexOf(':');
    const int column = colon > 0 ? column_called(word.left(colon), columns) : -1;
    const QString words = column < 0 ? word : word.mid(colon + 1);
    if (!words.isEmpty()) terms_.push_back({.column = column, .words = words});
  }
}

bool TableFilter::accepts(const TableModel& model, int row) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    if (term.column >= 0) return cell_has(model, row, term.column, term.words);
    // Numbers are searched last, because formatting one costs more than searching a text.
    return any_cell_has(model, row, false, term.words) ||
           any_cell_has(model, row, true, term.words);
  });
}

}  // namespace tributary::dashboard
