// The line above a table: what to look for in it, how much of it that leaves, and its way out as a
// file. Ctrl+F leads here from anywhere in its owner, Esc clears it, Down goes on to the table.
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
  // `owner` has both the bar and the table; the table must outlive the bar.
  FilterBar(TableView& table, QWidget& owner);

  // A choice of the least level that is shown, of this column of ranks.
  void add_levels(int column);
  void set_line(const QString& line);
  QString line() const;
  QString told() const;  // "12 of 340"

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void clear();
  void tell_count();

  TableView& table_;
  QLineEdit* line_;
  QComboBox* levels_ = nullptr;
  QLabel* count_;
};

}  // namespace tributary::dashboard
