#include "dashboard/window/cheat_sheet.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace tributary::dashboard {
namespace {

struct KeyOfPart {
  const char* keys;
  const char* what;
};

// Keys that dashboard/plot handles.
constexpr KeyOfPart kKeysOfPictures[] = {
    {"drag", "zoom to a rectangle, or along one axis"},
    {"Shift + drag, arrows", "move"},
    {"wheel, + −", "zoom x; with Ctrl y"},
    {"double click, Home", "show all there is"},
    {"Backspace", "undo a zoom; with Shift do it again"},
    {"End, Space", "back to live"},
    {"L", "linear or logarithmic y; with Shift x"},
    {"[ ]", "crosshair to the sample before, after"},
    {"click, Enter", "open what is at the crosshair"},
    {"Esc", "put the crosshair away"},
    {"click in the legend, 1 … 9", "one curve alone, and all again"},
    {"Ctrl + click, Ctrl + 1 … 9", "one curve more or less"},
    {"0", "all curves"},
};

// Keys that dashboard/tables and the page of a round handle.
constexpr KeyOfPart kKeysOfTables[] = {
    {"Ctrl+F", "filter: words, or column:word"},
    {"Esc", "clear the filter"},
    {"click on a head", "sort; a third click: as the rows came"},
    {"right click on a head", "choose columns"},
    {"Ctrl+C", "copy the rows that are chosen"},
    {"Enter", "open what a row is about"},
    {"Alt+← Alt+→", "on the page of a round: the one before, after"},
    {"Alt+End", "and the newest"},
};

// Keys that the control page handles.
constexpr KeyOfPart kKeysOfControl[] = {
    {"Alt+U, Alt+E, Alt+T", "pause, resume, stop the job that is chosen"},
    {"Alt+O", "the reason for it"},
    {"Alt+F, Alt+C, Alt+S", "a job's file: type it, choose it, submit it"},
    {"Alt+I, Alt+Y, Alt+A", "an agent's id and key, and allow it"},
    {"Alt+G, Alt+K", "an agent, and revoke it"},
    {"Esc", "leave it as it is, where the page asks"},
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
  auto* label = new QLabel(heading);
  grid->addWidget(label, 0, 0, 1, 2);
  return grid;
}

}  // namespace

CheatSheet::CheatSheet(const std::vector<const QAction*>& actions, QWidget* parent)
    : QDialog(parent) {
  setWindowTitle("Keys");
  auto* window_keys = make_grid("In the window");
  for (const QAction* action : actions) {
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) {
      keys.push_back(key.toString(QKeySequence::NativeText));
    }
    if (keys.empty()) continue;
    add_line(*window_keys, keys.join(", "), QString(action->text()).remove('&').remove(u'…'));
  }
  auto* picture_keys = make_grid("In a picture, which Tab reaches");
  for (const KeyOfPart& one : kKeysOfPictures) add_line(*picture_keys, one);
  auto* table_keys = make_grid("In a table, and on the page of a round");
  for (const KeyOfPart& one : kKeysOfTables) add_line(*table_keys, one);
  auto* control_keys = make_grid("On the page of control");
  for (const KeyOfPart& one : kKeysOfControl) add_line(*control_keys, one);
  auto* left = new QVBoxLayout;
  left->addLayout(window_keys);
  left->addSpacing(18);
  left->addLayout(control_keys);
  left->addStretch(1);
  auto* right = new QVBoxLayout;
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
