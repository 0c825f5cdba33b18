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

  void show_column(const QString& key, bool shown);
  bool column_shown(const QString& key) const;
  std::vector<int> shown_columns() const;  // in display order

  int current_row() const;           // -1: none
  void select_row(int row);          // no effect if the filter hides the row
  QByteArray selected_text() const;  // fields are separated by tabs
  void copy() const;
  Status export_csv(const QString& file);
  void ask_export();  // asks for the file name

 signals:
  void row_chosen(int row);   // the current row has changed
  void row_entered(int row);  // Enter or double click
  void exported(const QString& told);
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
