#include "dashboard/tables/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>

#include "dashboard/plot/data/palette.h"
#include "dashboard/tables/cells/table_delegate.h"
#include "dashboard/tables/cells/table_style.h"
#include "dashboard/tables/table_text.h"

namespace tributary::dashboard {
namespace {

constexpr int kColumnWidthMax = 280;     // pixels, limit of the automatic width
constexpr int kStretchedWidthMin = 120;  // for a last column that takes the remaining space
// The automatic width measures only this many rows: measuring all of them is slow in large tables.
constexpr int kRowsMeasured = 200;
constexpr int kRowMargin = 6;

}  // namespace

TableView::TableView(TableModel& table, QWidget* parent)
    : QTableView(parent), table_(table), proxy_(table) {
  setModel(&proxy_);
  setItemDelegate(new TableDelegate(this));
  // The header does not inherit the view's style, so it is set twice.
  auto* const roomy = new TableStyle;
  roomy->setParent(this);
  setStyle(roomy);
  horizontalHeader()->setStyle(roomy);
  setSelectionBehavior(SelectRows);
  setSelectionMode(ExtendedSelection);
  setEditTriggers(NoEditTriggers);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  setCornerButtonEnabled(false);
  setHorizontalScrollMode(ScrollPerPixel);
  set_up_heads();
  connect(this, &QTableView::doubleClicked, this,
          [this](const QModelIndex& index) { emit row_entered(source_row(index)); });
  size_columns_once();
}

void TableView::set_up_heads() {
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  verticalHeader()->setDefaultSectionSize(fontMetrics().height() + kRowMargin);
  QHeaderView& heads = *horizontalHeader();
  // A third click on a header removes the sorting.
  heads.setSortIndicatorClearable(true);
  heads.setSectionsMovable(true);
  heads.setHighlightSections(false);
  heads.setResizeContentsPrecision(kRowsMeasured);
  heads.setSortIndicator(-1, Qt::AscendingOrder);
  setSortingEnabled(true);
  for (std::size_t i = 0; i < table_.columns().size(); ++i) {
    setColumnHidden(static_cast<int>(i), !table_.columns()[i].shown);
  }
  heads.setContextMenuPolicy(Qt::CustomContextMenu);
  connect(&heads, &QHeaderView::customContextMenuRequested, this, [this, &heads](QPoint at) {
    QMenu menu;
    fill_columns_menu(menu);
    menu.exec(heads.mapToGlobal(at));
  });
}

void TableView::set_empty_text(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

// --- columns -----------------------------------------------------------------------------------

void TableView::show_column(const QString& key, bool shown) {
  const int column = table_.column_of(key);
  if (column < 0 || isColumnHidden(column) == !shown) return;
  setColumnHidden(column, !shown);
  if (shown && sized_) size_column(column);
}

bool TableView::column_shown(const QString& key) const {
  const int column = table_.column_of(key);
  return column >= 0 && !isColumnHidden(column);
}

// In the order on the screen, which the user may have changed by moving headers. Exports keep it.
std::vector<int> TableView::shown_columns() const {
  std::vector<int> columns;
  for (int place = 0; place < horizontalHeader()->count(); ++place) {
    const int column = horizontalHeader()->logicalIndex(place);
    if (!isColumnHidden(column)) columns.push_back(column);
  }
  return columns;
}

void TableView::fill_columns_menu(QMenu& menu) {
  for (const TableColumn& column : table_.columns()) {
    QAction* const action = menu.addAction(column.title);
    action->setCheckable(true);
    action->setChecked(column_shown(column.key));
    // At least one column must stay visible: without a header the menu could not be opened again.
    action->setEnabled(!action->isChecked() || shown_columns().size() > 1);
    connect(action, &QAction::toggled, this,
            [this, key = column.key](bool on) { show_column(key, on); });
  }
}

// Chooses the widths when the first rows arrive. Later changes by the user are kept.
void TableView::size_columns_once() {
  if (sized_ || proxy_.rowCount() == 0) return;
  sized_ = true;
  for (const int column : shown_columns()) size_column(column);
}

void TableView::size_column(int column) {
  resizeColumnToContents(column);
  const bool stretched =
      horizontalHeader()->stretchLastSection() && column == shown_columns().back();
  const int width_max = stretched ? kStretchedWidthMin : kColumnWidthMax;
  setColumnWidth(column, std::min(columnWidth(column), width_max));
}

// --- rows --------------------------------------------------------------------------------------

int TableView::source_row(const QModelIndex& index) const {
  return index.isValid() ? proxy_.mapToSource(index).row() : -1;
}

int TableView::current_row() const { return source_row(currentIndex()); }

void TableView::select_row(int row) {
  const QModelIndex index = proxy_.mapFromSource(table_.index(row, 0));
  if (index.isValid()) setCurrentIndex(index);
}

// A move to another cell of the same row chooses nothing new.
void TableView::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QTableView::currentChanged(current, previous);
  if (current.isValid() && current.row() != previous.row()) emit row_chosen(source_row(current));
}

void TableView::rowsInserted(const QModelIndex& parent, int first, int last) {
  const QScrollBar& bar = *verticalScrollBar();
  // Must be read before the base class inserts the rows and changes the scroll range.
  const bool at_end = follow_end_ && bar.value() == bar.maximum();
  QTableView::rowsInserted(parent, first, last);
  size_columns_once();
  if (at_end && last + 1 == proxy_.rowCount()) scrollToBottom();
}

// --- export and copy ---------------------------------------------------------------------------

QByteArray TableView::selected_text() const {
  std::vector<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedRows()) rows.push_back(index.row());
  std::ranges::sort(rows);
  return rows.empty() ? QByteArray() : table_text(proxy_, rows, shown_columns(), '\t');
}

void TableView::copy() const {
  const QByteArray text = selected_text();
  if (!text.isEmpty()) QApplication::clipboard()->setText(QString::fromUtf8(text));
}

Status TableView::export_csv(const QString& file) {
  return write_table(proxy_, shown_columns(), file);
}

void TableView::ask_export() {
  const QString file = QFileDialog::getSaveFileName(this, "Export table", "table.csv",
                                                    "Comma-separated values (*.csv)");
  if (file.isEmpty()) return;
  const Status written = export_csv(file);
  emit exported(written.ok() ? "Written: " + file : QString::fromStdString(written.text()));
}

// --- input -------------------------------------------------------------------------------------

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    copy();
    return;
  }
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (current_row() >= 0) emit row_entered(current_row());
      return;
    case Qt::Key_Escape:
      emit escaped();
      return;
    default:
      QTableView::keyPressEvent(event);
  }
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu;
  QAction* const copy_rows = menu.addAction("Copy rows", this, &TableView::copy);
  copy_rows->setShortcut(QKeySequence::Copy);
  copy_rows->setEnabled(selectionModel()->hasSelection());
  menu.addAction("Export as CSV…", this, &TableView::ask_export);
  fill_columns_menu(*menu.addMenu("Columns"));
  menu.exec(event->globalPos());
}

void TableView::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  if (proxy_.rowCount() > 0) return;
  // The view is empty either because the filter hides all rows or because there are none.
  const bool hidden = table_.rowCount() > 0;
  QPainter painter(viewport());
  painter.setPen(plot_colours(palette()).faint);
  constexpr int kMargin = 20;
  painter.drawText(viewport()->rect().adjusted(kMargin, kMargin, -kMargin, -kMargin),
                   Qt::AlignCenter | Qt::TextWordWrap,
                   hidden ? "No row matches the filter. Press Esc to clear it." : empty_text_);
}

}  // namespace tributary::dashboard
