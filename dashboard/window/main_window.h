// The main window. It connects the open runs, the pages and the actions of the user; each part does
// its own work. GUI thread only.
//
// It owns the pages and the open runs. The settings keep its geometry, its layout and the last
// connection. No call blocks on a run: sessions read on threads of their own.
#pragma once

#include <QMainWindow>
#include <QPointer>
#include <QSettings>
#include <QTimer>
#include <memory>
#include <string>
#include <vector>

#include "dashboard/pages/common/page.h"
#include "dashboard/window/cheat_sheet.h"
#include "dashboard/window/connect_dialog.h"
#include "dashboard/window/open_runs.h"
#include "dashboard/window/page_docks.h"
#include "dashboard/window/run_status.h"
#include "dashboard/window/trouble_banner.h"
#include "dashboard/window/window_actions.h"

namespace tributary::dashboard {

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  // The settings and the context must outlive the window.
  MainWindow(QSettings& settings, PageContext& context, std::vector<std::unique_ptr<Page>> pages);
  ~MainWindow() override;

  // Opens a run. A refusal is shown in the window.
  void open_run(const RunOrigin& origin);
  void open_run(const std::string& path) { open_run(origin_of_file(path)); }
  // Opens the coordinator and remembers the connection if it is accepted.
  void connect_to(const ConnectChoice& choice);
  // Returns false if there is no such page.
  bool show_page(const QString& name) { return docks_->show_page(name); }

  OpenRuns& runs() { return runs_; }
  PageDocks& docks() { return *docks_; }
  WindowActions& actions() { return *actions_; }
  TroubleBanner& banner() { return *banner_; }
  RunStatus& run_status() { return *status_; }
  CheatSheet* cheat_sheet() { return cheat_sheet_; }
  ConnectDialog* connect_dialog() { return connect_dialog_; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void lay_out();
  void connect_runs();
  void connect_actions();
  void connect_pages();
  void take_runs();
  void refresh();
  void ask_for_runs();
  void ask_for_connection();
  void close_newest();
  void save_picture();
  void set_full_screen(bool on);
  void show_cheat_sheet();
  void point_at(double round, double time_s);
  Page* page_in_front() const;

  QSettings& settings_;
  PageContext& context_;
  OpenRuns runs_;
  QTimer refresh_timer_;
  PageDocks* docks_ = nullptr;
  TroubleBanner* banner_ = nullptr;
  RunStatus* status_ = nullptr;
  WindowActions* actions_ = nullptr;
  // The dialogs delete themselves when they are closed.
  QPointer<CheatSheet> cheat_sheet_;
  QPointer<ConnectDialog> connect_dialog_;
};

}  // namespace tributary::dashboard
