#include "dashboard/tables/filter_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QShortcut>
#include <QToolButton>

#include "core/base/log/log.h"
#include "dashboard/tables/table_view.h"

namespace tributary::dashboard {

FilterBar::FilterBar(TableView& table, QWidget& owner)
    : QWidget(&owner), table_(table), line_(new QLineEdit(this)), count_(new QLabel(this)) {
  auto* const layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line_, 1);
  layout->addWidget(count_);
  line_->setPlaceholderText("Filter: words, or column:word  (Ctrl+F)");
  line_->setAccessibleName("Filter");
  line_->setMaxLength(static_cast<int>(TableFilter::kCharactersMax));
  line_->setClearButtonEnabled(true);
  line_->installEventFilter(this);
  count_->setTextFormat(Qt::PlainText);
  auto* const out = new QToolButton(this);
  out->setText("CSV…");
  out->setToolTip("Export the visible rows");
  out->setFocusPolicy(Qt::StrongFocus);
  layout->addWidget(out);
  setFocusProxy(line_);

  connect(line_, &QLineEdit::textChanged, this, [this](const QString& text) {
    table_.proxy().set_filter(text);
    show_count();
  });
  connect(out, &QToolButton::clicked, &table_, &TableView::ask_export);
  connect(&table_, &TableView::escaped, this, &FilterBar::clear);
  connect(&table_, &TableView::exported, count_, &QLabel::setText);
  auto* const find = new QShortcut(QKeySequence::Find, &owner);
  // Only while the focus is inside the owner: each page has its own filter.
  find->setContext(Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, line_, [this] {
    line_->setFocus(Qt::ShortcutFocusReason);
    line_->selectAll();
  });
  const TableProxy& proxy = table_.proxy();
  connect(&proxy, &QAbstractItemModel::rowsInserted, this, &FilterBar::show_count);
  connect(&proxy, &QAbstractItemModel::rowsRemoved, this, &FilterBar::show_count);
  connect(&proxy, &QAbstractItemModel::modelReset, this, &FilterBar::show_count);
  // The bar also shows the total, so it follows rows that the filter hides.
  connect(proxy.sourceModel(), &QAbstractItemModel::rowsInserted, this, &FilterBar::show_count);
  connect(proxy.sourceModel(), &QAbstractItemModel::rowsRemoved, this, &FilterBar::show_count);
  show_count();
}

// The data of an item is the lowest level to show; -1 shows all.
void FilterBar::add_levels(int column) {
  levels_ = new QComboBox(this);
  levels_->setAccessibleName("Level");
  levels_->setToolTip("Lowest level to show");
  levels_->addItem("All levels", -1);
  levels_->addItem("Info and above", static_cast<int>(LogLevel::info));
  levels_->addItem("Warnings and errors", static_cast<int>(LogLevel::warning));
  levels_->addItem("Errors", static_cast<int>(LogLevel::error));
  static_cast<QHBoxLayout*>(layout())->insertWidget(1, levels_);
  connect(levels_, &QComboBox::currentIndexChanged, this, [this, column] {
    const int least = levels_->currentData().toInt();
    table_.proxy().set_least(least < 0 ? -1 : column, least);
    show_count();
  });
}

void FilterBar::set_line(const QString& line) { line_->setText(line); }

QString FilterBar::line() const { return line_->text(); }

QString FilterBar::count_text() const { return count_->text(); }

void FilterBar::clear() {
  line_->clear();
  if (levels_) levels_->setCurrentIndex(0);
}

// With a filter "visible of all", otherwise the number of rows.
void FilterBar::show_count() {
  const int all = table_.proxy().sourceModel()->rowCount();
  const int shown = table_.proxy().rowCount();
  count_->setText(table_.proxy().filtered() ? QString("%1 of %2").arg(shown).arg(all)
                                            : QString::number(all));
}

// Keys lead from the line to the table, so that no mouse is needed.
bool FilterBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched != line_ || event->type() != QEvent::KeyPress) return false;
  switch (static_cast<const QKeyEvent*>(event)->key()) {
    case Qt::Key_Escape:
      // The first Esc clears the filter, the second one returns to the table.
      if (line_->text().isEmpty()) table_.setFocus(Qt::OtherFocusReason);
      clear();
      return true;
    case Qt::Key_Down:
    case Qt::Key_Return:
    case Qt::Key_Enter:
      table_.setFocus(Qt::OtherFocusReason);
      if (!table_.currentIndex().isValid() && table_.proxy().rowCount() > 0) {
        table_.setCurrentIndex(table_.proxy().index(0, table_.shown_columns().front()));
      }
      return true;
    default:
      return false;
  }
}

}  // namespace tributary::dashboard
