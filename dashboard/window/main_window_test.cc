// User actions in the window, by keys, with runs that appear, disappear, or are no valid files.
#include "dashboard/window/main_window.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/pages/all_pages.h"
#include "dashboard/plot/plot_view.h"
#include "dashboard/session/session_testing.h"
#include "dashboard/window/theme.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using run_testing::RunWriter;

class MainWindowTest : public testing::Test {
 protected:
  MainWindowTest() { make_window(); }

  std::string path(const std::string& name) { return folder_ / name; }
  // Windows share the settings file, so a second one finds what the first one has stored.
  void make_window() {
    window_.reset();
    context_ = std::make_unique<PageContext>();
    settings_ = std::make_unique<QSettings>(QString::fromStdString(path("settings.ini")),
                                            QSettings::IniFormat);
    window_ = std::make_unique<MainWindow>(*settings_, *context_, make_all_pages(*context_));
    window_->show();
    QApplication::setActiveWindow(window_.get());
    QApplication::processEvents();
  }
  void write_run(const std::string& name, std::uint64_t rounds = 3) {
    RunWriter writer(path(name));
    writer.job();
    writer.agents(true);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      writer.round(round);
      writer.metric(kAccuracyMetric, round, 0.5);
    }
  }
  void key(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(window_.get(), which, modifiers);
    QApplication::processEvents();
  }
  // Some charts draw a round with its full width, so the range may end half a round after the last
  // one.
  bool sees_up_to(double round) {
    return std::abs(context_->group().x_axis().range().high - round) <= 0.5;
  }
  QString banner() { return window_->banner().text(); }
  // Files are read on another thread.
  bool read_all() {
    return happens([this] { return window_->runs().caught_up(); });
  }

  store_testing::Folder folder_;
  std::unique_ptr<PageContext> context_;
  std::unique_ptr<QSettings> settings_;
  std::unique_ptr<MainWindow> window_;
};

// The status bar has the state of each run; without an error there is no banner.
TEST_F(MainWindowTest, OpensRunsAndShowsTheirState) {
  write_run("run.db");
  window_->open_run(path("run.db"));
  EXPECT_TRUE(happens([&] {
    return window_->run_status().text(0) == "run.db: digits, running, round 3 of 20";
  })) << window_->run_status().text(0).toStdString();
  EXPECT_EQ(banner(), "");
  EXPECT_TRUE(window_->windowTitle().contains("run.db"));
}

// A hidden page is not painted for new rounds, and catches up when it is shown.
TEST_F(MainWindowTest, APageIsPaintedWhileVisibleAndWhenShownAgain) {
  RunWriter writer(path("run.db"));
  writer.job();
  writer.round(1);
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  const auto paints = [&](const QString& page) {
    std::uint64_t sum = 0;
    for (const PlotView* view : window_->docks().page(page)->findChildren<PlotView*>()) {
      sum += view->paints();
    }
    return sum;
  };
  window_->show_page("traffic");
  EXPECT_TRUE(happens([&] { return paints("traffic") > 0; }));
  window_->show_page("overview");
  ASSERT_TRUE(happens([&] { return !window_->docks().page_in_sight("traffic"); }));
  const std::uint64_t traffic = paints("traffic");
  const std::uint64_t overview = paints("overview");
  writer.round(2);
  EXPECT_TRUE(happens([&] { return paints("overview") > overview; }));
  EXPECT_EQ(paints("traffic"), traffic);
  window_->show_page("traffic");
  EXPECT_TRUE(happens([&] { return paints("traffic") > traffic; }));
}

// Every coordinator's journal is called run.db. The folder is shown only while two names are equal.
TEST_F(MainWindowTest, RunsOfOneNameAreDistinguishedByTheirFolders) {
  for (const char* day : {"monday", "today"}) {
    std::filesystem::create_directory(path(day));
    write_run(std::string(day) + "/run.db");
    window_->open_run(path(std::string(day) + "/run.db"));
  }
  ASSERT_EQ(window_->runs().runs().size(), 2u);
  EXPECT_EQ(window_->runs().runs()[0]->name(), "monday/run.db");
  EXPECT_EQ(window_->runs().runs()[1]->name(), "today/run.db");
  ASSERT_TRUE(read_all());
  ColourSlots& colours = context_->group().colours();
  EXPECT_EQ(colours.slot_of(window_->runs().runs()[0]->key()), 0u);
  EXPECT_EQ(colours.slot_of(window_->runs().runs()[1]->key()), 1u);
  key(Qt::Key_W, Qt::ControlModifier);
  ASSERT_EQ(window_->runs().runs().size(), 1u);
  EXPECT_EQ(window_->runs().runs()[0]->name(), "run.db");
  key(Qt::Key_W, Qt::ControlModifier);
  EXPECT_TRUE(window_->runs().runs().empty());
}

// The page of agents draws other curves first, which must not change the colour of an agent.
TEST_F(MainWindowTest, AgentsGetTheirColoursBeforeThePagesDraw) {
  window_->show_page("agents");
  write_run("run.db");
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  ASSERT_TRUE(happens([&] { return window_->run_status().text(0).contains("round 3"); }));
  EXPECT_EQ(context_->group().colours().slot_of("a"), 1u) << "after the run";
}

// The paths differ as texts but lead to one file.
TEST_F(MainWindowTest, TheSameRunIsNotOpenedTwice) {
  write_run("run.db");
  window_->open_run(path("run.db"));
  window_->open_run(path("./run.db"));
  EXPECT_EQ(window_->runs().runs().size(), 1u);
  EXPECT_TRUE(banner().contains("already_exists")) << banner().toStdString();
}

// The limit is the number of colours that can be told apart.
TEST_F(MainWindowTest, ManyRunsAreRefused) {
  for (std::size_t i = 0; i <= OpenRuns::kRunsMax; ++i) {
    window_->open_run(path(std::to_string(i) + ".db"));
  }
  EXPECT_EQ(window_->runs().runs().size(), OpenRuns::kRunsMax);
  EXPECT_TRUE(banner().contains("at most 8")) << banner().toStdString();
}

// The error is a banner and no dialog, so it disappears by itself when the file is replaced.
TEST_F(MainWindowTest, AFileThatIsNoRunIsReportedUntilItIsOne) {
  std::ofstream(path("run.db")) << "no database, but longer than the head of one";
  window_->open_run(path("run.db"));
  ASSERT_TRUE(happens([&] { return banner().contains("mismatch"); }));
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
  std::filesystem::remove(path("run.db"));
  write_run("run.db");
  EXPECT_TRUE(happens([&] { return banner().isEmpty() && window_->runs().caught_up(); }));
}

// A dashboard may be older than the coordinator whose journal it opens.
TEST_F(MainWindowTest, ANewerSchemaIsReported) {
  {
    RunWriter writer(path("run.db"));
    ASSERT_EQ(writer.journal().database().execute("PRAGMA user_version = 99").text(), "ok");
  }
  window_->open_run(path("run.db"));
  EXPECT_TRUE(happens([&] { return banner().contains("unsupported"); })) << banner().toStdString();
  EXPECT_EQ(window_->run_status().text(0), "run.db: cannot be read");
}

// The rounds that were read stay visible.
TEST_F(MainWindowTest, ARemovedFileIsReportedUntilItReturns) {
  write_run("run.db");
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  std::filesystem::rename(path("run.db"), path("elsewhere.db"));
  ASSERT_TRUE(happens([&] { return banner().contains("not_found"); }));
  EXPECT_EQ(window_->runs().runs()[0]->view().rounds(kJob)->size(), 3u) << "it stays in sight";
  std::filesystem::rename(path("elsewhere.db"), path("run.db"));
  EXPECT_TRUE(happens([&] { return banner().isEmpty(); })) << banner().toStdString();
}

// SQLite keeps the newest commits in a second file. A copy without it opens without an error and
// lacks them.
TEST_F(MainWindowTest, AFileThatWasCopiedWithoutItsLogIsSaid) {
  RunWriter writer(path("live.db"));
  writer.job();
  writer.round(1);
  std::filesystem::copy_file(path("live.db"), path("run.db"));
  window_->open_run(path("run.db"));
  EXPECT_TRUE(happens([&] {
    return banner().contains("newest rounds may be missing") && banner().contains("run copy");
  })) << banner().toStdString();
}

// Backwards, because the first page is visible at the start.
TEST_F(MainWindowTest, PagesHaveKeys) {
  const std::vector<Page*>& pages = window_->docks().pages();
  ASSERT_GE(pages.size(), 2u);
  EXPECT_TRUE(happens([&] { return window_->docks().page_in_sight(pages[0]->name()); }));
  for (std::size_t i = pages.size(); i-- > 0;) {
    key(static_cast<Qt::Key>(Qt::Key_1 + static_cast<int>(i)), Qt::AltModifier);
    EXPECT_TRUE(happens([&] { return window_->docks().page_in_sight(pages[i]->name()); }))
        << pages[i]->name().toStdString();
  }
}

// Otherwise a user would have to search the menu for a page closed by mistake.
TEST_F(MainWindowTest, AClosedPageReopensByItsKey) {
  Page* const page = window_->docks().pages()[1];
  window_->docks().toggle_action(1)->trigger();
  EXPECT_FALSE(page->isVisible());
  key(Qt::Key_2, Qt::AltModifier);
  EXPECT_TRUE(happens([&] { return window_->docks().page_in_sight(page->name()); }));
}

// The layout and the choice of the x axis survive a restart; a reset brings every page back.
TEST_F(MainWindowTest, TheLayoutIsRememberedAndReset) {
  window_->docks().toggle_action(1)->trigger();
  window_->actions().over_time->trigger();
  EXPECT_TRUE(context_->over_time());
  window_->close();
  make_window();
  EXPECT_TRUE(context_->over_time());
  EXPECT_FALSE(window_->docks().toggle_action(1)->isChecked());
  window_->actions().reset_layout->trigger();
  EXPECT_TRUE(window_->docks().toggle_action(1)->isChecked());
  EXPECT_TRUE(happens([&] { return window_->docks().page_in_sight("overview"); }));
}

// The settings may come from another version or be damaged.
TEST_F(MainWindowTest, ASpoiltLayoutIsNotTaken) {
  settings_->setValue("window/pages", QByteArray("nonsense"));
  settings_->setValue("window/geometry", QByteArray("nonsense"));
  settings_->sync();
  make_window();
  EXPECT_TRUE(happens([&] { return window_->docks().page_in_sight("overview"); }));
}

// The action's check mark follows every change of the state.
TEST_F(MainWindowTest, LiveAndPausedHaveAKey) {
  PlotGroup& group = context_->group();
  EXPECT_TRUE(group.x_axis().live());
  key(Qt::Key_L, Qt::ControlModifier);
  EXPECT_TRUE(group.x_axis().locked());
  EXPECT_FALSE(window_->actions().live->isChecked());
  key(Qt::Key_L, Qt::ControlModifier);
  EXPECT_TRUE(group.x_axis().live());
  EXPECT_TRUE(window_->actions().live->isChecked());
}

// Keys of the window act on the plots of all pages.
TEST_F(MainWindowTest, AZoomIsUndoneByAKey) {
  write_run("run.db", 20);
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  PlotGroup& group = context_->group();
  ASSERT_TRUE(happens([&] { return sees_up_to(20); }));
  group.x_axis().zoom_to({.x = Extent{5, 10}});
  key(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(sees_up_to(20)) << group.x_axis().range().high;
  key(Qt::Key_Y, Qt::ControlModifier);
  EXPECT_EQ(group.x_axis().range().high, 10);
  key(Qt::Key_0, Qt::ControlModifier);
  EXPECT_TRUE(sees_up_to(20)) << group.x_axis().range().high;
}

// An event points to round 7, which the zoom had moved out of sight.
TEST_F(MainWindowTest, ARequestedMomentIsMarked) {
  write_run("run.db", 20);
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  PlotGroup& group = context_->group();
  ASSERT_TRUE(happens([&] { return sees_up_to(20); }));
  group.x_axis().zoom_to({.x = Extent{15, 20}});
  emit window_->docks().pages()[0]->moment_requested(7, 6.5);
  EXPECT_EQ(group.crosshair(), 7.0);
  EXPECT_LT(group.x_axis().range().low, 7) << "it is in sight";
}

// The sheet is made from the actions, so a new key cannot be forgotten. It is not modal, so the
// window stays usable.
TEST_F(MainWindowTest, TheCheatSheetListsEveryKeyAndHoldsNothingUp) {
  key(Qt::Key_Question);
  ASSERT_NE(window_->cheat_sheet(), nullptr);
  EXPECT_TRUE(window_->cheat_sheet()->isVisible());
  EXPECT_LT(window_->cheat_sheet()->sizeHint().height(), 768) << "it fits a small screen";
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
  QStringList texts;
  for (const QLabel* label : window_->cheat_sheet()->findChildren<QLabel*>()) {
    texts.push_back(label->text());
  }
  for (const QAction* action : window_->actions().all()) {
    for (const QKeySequence& one : action->shortcuts()) {
      const QString text = one.toString(QKeySequence::NativeText);
      EXPECT_FALSE(texts.filter(text).empty()) << text.toStdString();
    }
  }
  QTest::keyClick(window_->cheat_sheet(), Qt::Key_Escape);
  EXPECT_TRUE(happens([&] { return window_->cheat_sheet() == nullptr; }));
}

// Qt runs neither of two actions with the same key.
TEST_F(MainWindowTest, NoTwoActionsHaveOneKey) {
  QStringList keys;
  for (const QAction* action : window_->actions().all()) {
    for (const QKeySequence& one : action->shortcuts()) keys.push_back(one.toString());
  }
  EXPECT_EQ(keys.removeDuplicates(), 0);
  EXPECT_GT(keys.size(), 12);
}

// A hidden menu bar cannot offer the way back, so the key must.
TEST_F(MainWindowTest, FullScreenIsLeftAsItIsEntered) {
  key(Qt::Key_F11);
  EXPECT_TRUE(window_->isFullScreen());
  EXPECT_FALSE(window_->menuBar()->isVisible());
  key(Qt::Key_F11);
  EXPECT_FALSE(window_->isFullScreen());
  EXPECT_TRUE(window_->menuBar()->isVisible());
}

// Contrasts are those of WCAG: 7 for text (AAA) and 4.5 for secondary text (AA).
TEST_F(MainWindowTest, DarkAndLightAreThePalettes) {
  write_run("run.db");
  window_->open_run(path("run.db"));
  ASSERT_TRUE(read_all());
  for (const bool dark : {true, false}) {
    apply_theme(dark ? Theme::dark : Theme::light);
    context_->group().refresh_now();
    QApplication::processEvents();
    const QColor ground = palette_of(dark).color(QPalette::Base);
    EXPECT_TRUE(has_colour(window_->grab().toImage(), ground));
    const QColor text = palette_of(dark).color(QPalette::WindowText);
    EXPECT_GT(contrast(palette_of(dark).color(QPalette::Window), text), 7);
    EXPECT_GT(contrast(ground, palette_of(dark).color(QPalette::PlaceholderText)), 4.5);
  }
}

}  // namespace
}  // namespace tributary::dashboard
