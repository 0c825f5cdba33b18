// The bar above a table: a filter field, the number of rows shown, and a button that exports them.
//
// Ctrl+F anywhere in the owner moves the focus to the filter. Esc clears the filter, and Down moves
// on to the table. GUI thread only.
#pragma once

#include <QString>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;

namespace tributary::dashboard {

class TableView;

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  // `owner` is the parent of the bar and contains the table. The table must outlive the bar.
  FilterBar(TableView& table, QWidget& owner);

  // Adds a box that selects the lowest level shown. `column` is a column of ranks.
  void add_levels(int column);
  // Sets the filter as if the user had typed it.
  void set_line(const QString& line);
  QString line() const;
  QString count_text() const;  // the count, as "12 of 340"

 protected:
  // Handles Esc, Down and Enter in the filter field.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void clear();
  void show_count();

  TableView& table_;
  QLineEdit* line_;
  QComboBox* levels_ = nullptr;
  QLabel* count_;
};

}  // namespace tributary::dashboard
