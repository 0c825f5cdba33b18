// The table widget of all pages: sorting, filtering, copying rows and choosing columns.
//
// A click on a header sorts; a third click restores the original order. Ctrl+C copies the selected
// rows. The header's menu and the table's own menu show and hide columns. All row numbers in this
// interface are those of the model, not of the proxy. GUI thread only.
#pragma once

#include <QString>
#include <QTableView>
#include <vector>

#include "core/base/status.h"
#include "dashboard/tables/cells/table_model.h"
#include "dashboard/tables/table_proxy.h"

class QMenu;

namespace tributary::dashboard {

class TableView : public QTableView {
  Q_OBJECT

 public:
  // The model must outlive the view.
  explicit TableView(TableModel& table, QWidget* parent = nullptr);

  TableProxy& proxy() { return proxy_; }
  // Sets the text for a table without rows. It should tell the user what to do.
  void set_empty_text(const QString& text);
  // Keeps new rows in sight: if the last row is visible, the view scrolls to each row that is
  // appended.
  void set_follow_end(bool on) { follow_end_ = on; }

  // Shows or hides a column. An unknown key has no effect.
  void show_column(const QString& key, bool shown);
  // Columns are named by their keys. An unknown key counts as hidden.
  bool column_shown(const QString& key) const;
  std::vector<int> shown_columns() const;  // in display order

  int current_row() const;           // -1: none
  void select_row(int row);          // no effect if the filter hides the row
  QByteArray selected_text() const;  // fields are separated by tabs
  void copy() const;
  // Writes the visible rows and columns. Fails with io_error.
  Status export_csv(const QString& file);
  void ask_export();  // asks for the file name

 signals:
  void row_chosen(int row);   // the current row has changed
  void row_entered(int row);  // Enter or double click
  // The result of ask_export() in words: the file, or the error.
  void exported(const QString& notice);
  // Esc was pressed in the table; the filter bar clears its filter.
  void escaped();

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void rowsInserted(const QModelIndex& parent, int first, int last) override;

 private:
  void set_up_heads();
  void size_columns_once();
  // Fits the width to the content, within kColumnWidthMax.
  void size_column(int column);
  void fill_columns_menu(QMenu& menu);
  int source_row(const QModelIndex& index) const;

  TableModel& table_;
  TableProxy proxy_;
  QString empty_text_;
  bool follow_end_ = false;
  bool sized_ = false;
};

}  // namespace tributary::dashboard
