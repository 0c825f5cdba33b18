#include "dashboard/window/cheat_sheet.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace tributary::dashboard {
namespace {

// Nested layouts would take the spacing between the columns, and the sheet would be taller than a
// screen.
constexpr int kRowSpacing = 6;

struct KeyOfPart {
  const char* keys;
  const char* what;
};

// Keys that dashboard/plot handles.
constexpr KeyOfPart kKeysOfPictures[] = {
    {"drag", "zoom to a rectangle, or along one axis"},
    {"Shift + drag, arrows", "move"},
    {"wheel, + −", "zoom x; with Ctrl y"},
    {"double click, Home", "show everything"},
    {"Backspace", "undo a zoom; with Shift redo"},
    {"End, Space", "return to live display"},
    {"L", "linear or logarithmic y; with Shift x"},
    {"[ ]", "crosshair to previous, next sample"},
    {"click, Enter", "open the item at the crosshair"},
    {"Esc", "hide the crosshair"},
    {"click in the legend, 1 … 9", "show one curve alone, or all again"},
    {"Ctrl + click, Ctrl + 1 … 9", "show or hide one curve"},
    {"0", "show all curves"},
};

// Keys that dashboard/tables and the page of a round handle.
constexpr KeyOfPart kKeysOfTables[] = {
    {"Ctrl+F", "filter: words, or column:word"},
    {"Esc", "clear the filter"},
    {"click on a header", "sort; a third click restores the order"},
    {"right click on a header", "choose columns"},
    {"Ctrl+C", "copy the selected rows"},
    {"Enter", "open the row's subject"},
    {"Alt+← Alt+→", "round page: previous, next round"},
    {"Alt+End", "round page: newest round"},
};

// Keys that the control page handles.
constexpr KeyOfPart kKeysOfControl[] = {
    {"Alt+U, Alt+E, Alt+T", "pause, resume, stop the selected job"},
    {"Alt+O", "enter the reason"},
    {"Alt+F, Alt+C, Alt+S", "job file: type, choose, submit"},
    {"Alt+I, Alt+Y, Alt+A", "agent to allow: id, key, allow"},
    {"Alt+G, Alt+K", "agent to revoke: select, revoke"},
    {"Esc", "cancel a confirmation"},
};

void add_line(QGridLayout& grid, const QString& keys, const QString& what) {
  const int row = grid.rowCount();
  auto* left = new QLabel(keys);
  QFont bold = left->font();
  bold.setBold(true);
  left->setFont(bold);
  left->setTextFormat(Qt::PlainText);
  grid.addWidget(left, row, 0);
  grid.addWidget(new QLabel(what), row, 1);
}

void add_line(QGridLayout& grid, const KeyOfPart& line) {
  add_line(grid, QString::fromUtf8(line.keys), QString::fromUtf8(line.what));
}

QGridLayout* make_grid(const QString& heading) {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(18);
  grid->setVerticalSpacing(kRowSpacing);
  auto* label = new QLabel(heading);
  grid->addWidget(label, 0, 0, 1, 2);
  return grid;
}

}  // namespace

CheatSheet::CheatSheet(const std::vector<const QAction*>& actions, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle("Keys");
  auto* window_keys = make_grid("Window");
  for (const QAction* action : actions) {
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) {
      keys.push_back(key.toString(QKeySequence::NativeText));
    }
    if (keys.empty()) continue;
    add_line(*window_keys, keys.join(", "), QString(action->text()).remove('&').remove(u'…'));
  }
  auto* picture_keys = make_grid("Charts (reach with Tab)");
  for (const KeyOfPart& each : kKeysOfPictures) add_line(*picture_keys, each);
  auto* table_keys = make_grid("Tables and round page");
  for (const KeyOfPart& each : kKeysOfTables) add_line(*table_keys, each);
  auto* control_keys = make_grid("Control page");
  for (const KeyOfPart& each : kKeysOfControl) add_line(*control_keys, each);
  auto* left = new QVBoxLayout;
  left->setSpacing(kRowSpacing);
  left->addLayout(window_keys);
  left->addSpacing(18);
  left->addLayout(control_keys);
  left->addStretch(1);
  auto* right = new QVBoxLayout;
  right->setSpacing(kRowSpacing);
  right->addLayout(picture_keys);
  right->addSpacing(18);
  right->addLayout(table_keys);
  right->addStretch(1);
  auto* row = new QHBoxLayout(this);
  row->setSpacing(36);
  row->addLayout(left);
  row->addLayout(right);
}

}  // namespace tributary::dashboard
