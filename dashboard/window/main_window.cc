#include "dashboard/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QMenuBar>
#include <QStatusBar>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "dashboard/pages/common/run_facts.h"
#include "dashboard/plot/files/file_export.h"

namespace tributary::dashboard {
namespace {

constexpr const char* kGeometryKey = "window/geometry";
constexpr const char* kOverTimeKey = "window/over_time";
constexpr QSize kFirstSize{1280, 800};
// At most 30 refreshes per second.
constexpr int kRefreshEveryMs = 33;

// A run without a job may get one, so it counts as growing.
bool still_grows(const RunSession* run) {
  const JobInfo* const job = run->job_info();
  return !job || !has_ended(job->state);
}

}  // namespace

MainWindow::MainWindow(QSettings& settings, PageContext& context,
                       std::vector<std::unique_ptr<Page>> pages)
    : settings_(settings), context_(context) {
  setWindowTitle("Tributary");
  docks_ = new PageDocks(std::move(pages), this);
  banner_ = new TroubleBanner;
  status_ = new RunStatus;
  actions_ = new WindowActions(*this, *docks_);
  lay_out();
  connect_runs();
  connect_actions();
  connect_pages();
  take_runs();
}

// The pages must drop the runs before these are destroyed.
MainWindow::~MainWindow() {
  for (Page* page : docks_->pages()) page->set_runs({});
}

void MainWindow::lay_out() {
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(banner_);
  column->addWidget(docks_, 1);
  setCentralWidget(all);
  statusBar()->addWidget(status_, 1);
  resize(kFirstSize);
  restoreGeometry(settings_.value(kGeometryKey).toByteArray());
  docks_->restore(settings_);
  const bool over_time = settings_.value(kOverTimeKey, false).toBool();
  context_.set_over_time(over_time);
  actions_->over_time->setChecked(over_time);
}

void MainWindow::connect_runs() {
  refresh_timer_.setSingleShot(true);
  refresh_timer_.setInterval(kRefreshEveryMs);
  connect(&refresh_timer_, &QTimer::timeout, this, &MainWindow::refresh);
  connect(&runs_, &OpenRuns::changed, this, [this] {
    // The timer is not restarted by later changes: a run that changes all the time is still shown.
    if (!refresh_timer_.isActive()) refresh_timer_.start();
  });
  connect(&runs_, &OpenRuns::runs_changed, this, &MainWindow::take_runs);
  connect(&runs_, &OpenRuns::trouble_changed, this, &MainWindow::refresh);
  connect(status_, &RunStatus::close_requested, &runs_, &OpenRuns::close);
}

void MainWindow::connect_actions() {
  SharedXAxis& x_axis = context_.group().x_axis();
  const auto on = [this](QAction* action, auto&& what) {
    connect(action, &QAction::triggered, this, std::forward<decltype(what)>(what));
  };
  on(actions_->open, [this] { ask_for_runs(); });
  on(actions_->connect_run, [this] { ask_for_connection(); });
  on(actions_->close_run, [this] { close_newest(); });
  on(actions_->save_picture, [this] { save_picture(); });
  on(actions_->quit, [this] { close(); });
  on(actions_->over_time, [this](bool checked) { context_.set_over_time(checked); });
  on(actions_->live, [&x_axis](bool checked) { checked ? x_axis.go_live() : x_axis.lock(); });
  on(actions_->undo_zoom, [&x_axis] { x_axis.undo(); });
  on(actions_->redo_zoom, [&x_axis] { x_axis.redo(); });
  on(actions_->fit, [&x_axis] { x_axis.fit(); });
  on(actions_->full_screen, [this](bool checked) { set_full_screen(checked); });
  on(actions_->reset_layout, [this] { docks_->reset(); });
  on(actions_->help, [this] { show_cheat_sheet(); });
  connect(&x_axis, &SharedXAxis::live_changed, this,
          [this, &x_axis] { actions_->live->setChecked(!x_axis.locked()); });
  connect(actions_, &WindowActions::page_requested, this, &MainWindow::show_page);
}

// A page asks for another page by signals, so that pages do not know each other.
void MainWindow::connect_pages() {
  for (Page* page : docks_->pages()) {
    connect(page, &Page::round_requested, this, [this](std::uint64_t round) {
      if (Page* target = docks_->page("round")) target->show_round(round);
      show_page("round");
    });
    connect(page, &Page::agent_requested, this, [this](const QString& agent_id) {
      if (Page* target = docks_->page("agents")) target->show_agent(agent_id);
      show_page("agents");
    });
    connect(page, &Page::moment_requested, this, &MainWindow::point_at);
  }
}

void MainWindow::open_run(const RunOrigin& origin) { banner_->show_refusal(runs_.open(origin)); }

// Only accepted connections are remembered.
void MainWindow::connect_to(const ConnectChoice& choice) {
  const Result<RunOrigin> origin =
      origin_of_join_file(choice.key_file.toStdString(), choice.endpoint.toStdString());
  if (!origin.ok()) {
    banner_->show_refusal(origin.status());
    return;
  }
  open_run(*origin);
  remember_connection(settings_, choice);
}

// Called whenever a run is opened or closed. Colours are given first, because pages draw with them.
void MainWindow::take_runs() {
  const std::vector<RunSession*> runs = runs_.runs();
  context_.give_colours(runs);
  for (Page* page : docks_->pages()) page->set_runs(runs);
  actions_->close_run->setEnabled(!runs.empty());
  setWindowTitle(runs.empty() ? "Tributary" : runs.front()->name() + " – Tributary");
  refresh();
}

void MainWindow::refresh() {
  refresh_timer_.stop();
  const std::vector<RunSession*> runs = runs_.runs();
  const bool following = std::ranges::any_of(runs, still_grows);
  // If no run grows, charts have no live display and no badge for it.
  SharedXAxis& x_axis = context_.group().x_axis();
  if (following != x_axis.following()) x_axis.set_following(following);
  context_.give_colours(runs);
  banner_->show_trouble(runs);
  for (Page* page : docks_->pages()) {
    if (docks_->page_in_sight(page->name())) page->refresh();
  }
  status_->show_runs(runs, context_.group().colours());
}

void MainWindow::ask_for_runs() {
  const QStringList files = QFileDialog::getOpenFileNames(
      this, "Open runs", {}, "Runs of a coordinator (*.db);;All files (*)");
  for (const QString& file : files) open_run(file.toStdString());
}

void MainWindow::ask_for_connection() {
  if (!connect_dialog_) {
    connect_dialog_ = new ConnectDialog(connections_in(settings_), this);
    // The pointer becomes null when the dialog is closed (QPointer).
    connect_dialog_->setAttribute(Qt::WA_DeleteOnClose);
    connect(connect_dialog_, &ConnectDialog::chosen, this, &MainWindow::connect_to);
  }
  connect_dialog_->show();
  connect_dialog_->raise();
  connect_dialog_->activateWindow();
}

void MainWindow::close_newest() {
  const std::vector<RunSession*> runs = runs_.runs();
  if (!runs.empty()) runs_.close(runs.back());
}

// The page that a picture shows.
Page* MainWindow::page_in_front() const {
  const std::vector<Page*>& pages = docks_->pages();
  const auto has_focus = [](const Page* page) {
    return page == QApplication::focusWidget() || page->isAncestorOf(QApplication::focusWidget());
  };
  const auto focused = std::ranges::find_if(pages, has_focus);
  if (focused != pages.end()) return *focused;
  // Without focus in a page, the first visible page is the front page.
  const auto seen = std::ranges::find_if(
      pages, [](const Page* page) { return !page->visibleRegion().isEmpty(); });
  return seen == pages.end() ? nullptr : *seen;
}

void MainWindow::save_picture() {
  Page* const page = page_in_front();
  if (!page) return;
  const QString file = QFileDialog::getSaveFileName(this, "Save " + page->title(),
                                                    page->name() + ".png", "Pictures (*.png)");
  if (!file.isEmpty()) banner_->show_refusal(write_png(page->grab().toImage(), file));
}

// The keys work without the menu bar too.
void MainWindow::set_full_screen(bool on) {
  setWindowState(on ? windowState() | Qt::WindowFullScreen : windowState() & ~Qt::WindowFullScreen);
  menuBar()->setVisible(!on);
}

void MainWindow::show_cheat_sheet() {
  if (!cheat_sheet_) {
    cheat_sheet_ = new CheatSheet(actions_->all(), this);
    cheat_sheet_->setAttribute(Qt::WA_DeleteOnClose);
  }
  cheat_sheet_->show();
  cheat_sheet_->raise();
}

// A moment outside the visible range could not be seen, so the range is reset first.
void MainWindow::point_at(double round, double time_s) {
  PlotGroup& group = context_.group();
  const double x = context_.over_time() ? time_s : round;
  if (!std::isfinite(x)) return;
  const Extent sight = group.x_axis().range();
  if (x < sight.low || x > sight.high) group.x_axis().fit();
  group.x_axis().lock();
  group.point_at(x);
}

void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() == QEvent::WindowStateChange && actions_) {
    actions_->full_screen->setChecked(isFullScreen());
    menuBar()->setVisible(!isFullScreen());
  }
  // Curves have other colours on a dark ground.
  if (event->type() == QEvent::PaletteChange && actions_) refresh();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.setValue(kGeometryKey, saveGeometry());
  settings_.setValue(kOverTimeKey, context_.over_time());
  docks_->save(settings_);
  if (cheat_sheet_) cheat_sheet_->close();
  QMainWindow::closeEvent(event);
}

}  // namespace tributary::dashboard
