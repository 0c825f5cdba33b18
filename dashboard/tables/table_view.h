// A table as all pages have it: sorted by a click on a head (a third click: as the rows came),
// filtered, rows copied by Ctrl+C, columns shown and hidden from the menu of its heads or its own.
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
  // The model must outlive it.
  explicit TableView(TableModel& table, QWidget* parent = nullptr);

  TableProxy& proxy() { return proxy_; }
  // What to do while there is nothing to show.
  void set_empty_text(const QString& text);
  // New rows at the end stay in sight, as long as the end is.
  void set_follow_end(bool on) { follow_end_ = on; }

  void show_column(const QString& key, bool shown);
  bool column_shown(const QString& key) const;
  std::vector<int> shown_columns() const;  // in the order in which they stand

  int current_row() const;           // the model's; -1: none
  void select_row(int row);          // the model's, if the filter leaves it
  QByteArray selected_text() const;  // with tabs between
  void copy() const;
  Status export_csv(const QString& file);
  void ask_export();  // where to

 signals:
  void row_chosen(int row);   // the model's; it is the current one now
  void row_entered(int row);  // by Enter or a double click
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
