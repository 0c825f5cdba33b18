#include "switch_p4/switchd/daemon.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/net/waker.h"
#include "core/net/zmq/control.h"
#include "core/service/daemon_end.h"
#include "core/service/daemon_outlets.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"
#include "switch_p4/switchd/coordinator_session.h"
#include "switch_p4/switchd/jobs/epoch_file.h"
#include "switch_p4/switchd/jobs/job_installer.h"
#include "switch_p4/switchd/switch_report.h"

namespace tributary::switchd {
namespace {

constexpr std::string_view kComponent = "switch";
// Period of the tasks that are not driven by events: signals, and the end of the data plane.
constexpr TimeNs kLookEveryNs = 50 * kNsPerMs;
constexpr TimeNs kMetricsEveryNs = 1'000 * kNsPerMs;

// All members belong to the caller's thread unless their own comment says otherwise. The order of
// the members is the reverse order of their destruction.
class SwitchDaemon {
 public:
  SwitchDaemon(const SwitchParts& parts, std::ostream& out)
      : settings_(parts.settings),
        parts_(parts),
        out_(out),
        end_(settings_.common.stop_grace_ms * kNsPerMs) {}

  Status open();
  Status run();

 private:
  // The requests of signals.
  struct Requests {
    std::atomic<bool> stop = false;
    std::atomic<bool> reload = false;
  };
  // The times at which periodic tasks are due.
  struct Schedule {
    TimeNs look_at_ns = 0;
    TimeNs metrics_at_ns = 0;
  };

  void install(const std::vector<in_network::SlotJob>& jobs);
  void reload();
  void print_counters();
  void stop();
  void log_connection();
  void run_periodic_tasks();
  SwitchReport report() const;  // any thread
  TimeNs now() const { return outlets_->clock().now().count(); }
  Log& log() { return outlets_->log(); }

  const SwitchSettings& settings_;
  const SwitchParts& parts_;
  std::ostream& out_;
  std::unique_ptr<DaemonOutlets> outlets_;
  std::unique_ptr<DataPlane> plane_;
  std::unique_ptr<JobInstaller> installer_;
  std::vector<std::uint16_t> handles_;           // of the jobs in the settings
  std::unique_ptr<CoordinatorSession> session_;  // null: the jobs are those of the settings
  std::unique_ptr<Waker> waker_;                 // without a session
  std::atomic<bool> connected_ = false;
  Requests requests_;
  std::unique_ptr<ControlServer> control_;  // asks for report() on its own thread
  std::unique_ptr<StopSignals> signals_;    // ends before what its handler uses
  DaemonEnd end_;
  Schedule next_;
};

Status SwitchDaemon::open() {
  TRIBUTARY_ASSIGN(outlets_, DaemonOutlets::open(settings_.common, kComponent));
  TRIBUTARY_ASSIGN(EpochFile epochs, EpochFile::open(settings_.state));
  TRIBUTARY_ASSIGN(plane_, parts_.open_plane());
  installer_ = std::make_unique<JobInstaller>(std::move(epochs), *plane_, log());
  install(settings_.jobs);
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  waker_ = std::make_unique<Waker>(std::move(waker));
  if (settings_.link.given()) {
    TRIBUTARY_ASSIGN(session_, CoordinatorSession::open({.settings = settings_,
                                                         .outlets = *outlets_,
                                                         .installer = *installer_,
                                                         .finished = [this](Status status) {
                                                           end_.finish(std::move(status));
                                                         }}));
  }
  // Two processes cannot have the UDP port, so the socket file is this process's alone.
  TRIBUTARY_ASSIGN(
      control_, ControlServer::open(control_path(settings_.state),
                                    [this](std::string_view) { return json_of(report()).dump(); }));
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) {
                     (signal == SIGHUP ? requests_.reload : requests_.stop) = true;
                     waker_->signal();
                     if (session_) session_->wake();
                   }));
  plane_->log_start(log());
  return notify_service_manager("READY=1");
}

void SwitchDaemon::install(const std::vector<in_network::SlotJob>& jobs) {
  for (const std::uint16_t handle : handles_) {
    if (std::ranges::find(jobs, handle, &in_network::SlotJob::handle) == jobs.end()) {
      installer_->remove(handle);
    }
  }
  handles_.clear();
  for (const in_network::SlotJob& job : jobs) {
    handles_.push_back(job.handle);
    ignore_error(installer_->install(job));  // it is logged, and the other jobs are served
  }
}

void SwitchDaemon::reload() {
  if (!settings_.link.given()) {
    const Result<SwitchSettings> settings = parts_.read_settings();
    if (settings.ok()) {
      install(settings->jobs);
    } else {
      log().error(kComponent, "settings not read again", {{"error", settings.status().text()}});
    }
  }
  print_counters();
}

SwitchReport SwitchDaemon::report() const {
  return {.address = plane_->address().text(),
          .coordinator = settings_.link.coordinator,
          .connected = connected_,
          .figures = plane_->figures()};
}

void SwitchDaemon::print_counters() {
  const SwitchReport now = report();
  const in_network::SlotCounters& packets = now.figures.packets;
  log().info(kComponent, "counters",
             {{"contributions", packets.contributions},
              {"results", packets.results},
              {"repeats", packets.repeats},
              {"refusals", packets.refusals},
              {"dropped", packets.dropped()}});
  if (parts_.json) out_ << json_of(now).dump() << std::endl;
}

void SwitchDaemon::stop() {
  ignore_error(notify_service_manager("STOPPING=1"));
  end_.stop(now());
  if (session_) session_->shut_down();
}

void SwitchDaemon::log_connection() {
  const bool connected = session_->connected();
  if (connected_.exchange(connected) == connected) return;
  log().info(kComponent, connected ? "connected" : "not connected",
             {{"coordinator", settings_.link.coordinator}});
}

void SwitchDaemon::run_periodic_tasks() {
  const TimeNs time = now();
  if (requests_.reload.exchange(false)) reload();
  if (requests_.stop.exchange(false)) stop();
  if (Status served = plane_->status(); !served.ok()) end_.fail(std::move(served));
  end_.look(time, !session_ || session_->idle());
  if (session_) log_connection();
  next_.look_at_ns = time + kLookEveryNs;
  if (time < next_.metrics_at_ns) return;
  next_.metrics_at_ns = time + kMetricsEveryNs;
  export_figures(report(), outlets_->metrics());
}

Status SwitchDaemon::run() {
  while (!end_.ended()) {
    if (session_) {
      TRIBUTARY_TRY(session_->turn(next_.look_at_ns));
    } else {
      waker_->wait(std::chrono::nanoseconds(kMetricsEveryNs));
      waker_->take();
    }
    run_periodic_tasks();
  }
  print_counters();
  log().info(kComponent, "ended");
  return end_.status();
}

}  // namespace

Status run_switch(const SwitchParts& parts, std::ostream& out) {
  SwitchDaemon daemon(parts, out);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary::switchd
