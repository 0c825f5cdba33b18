#include "switch_p4/xdp/daemon.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/log/log.h"
#include "core/net/udp/udp_port.h"
#include "core/net/waker.h"
#include "core/service/service_manager.h"
#include "core/service/stop_signals.h"
#include "switch_p4/switchd/jobs/epoch_file.h"
#include "switch_p4/xdp/reply_sender.h"

namespace tributary::switch_xdp {
namespace {

constexpr std::string_view kGatewayComponent = "switch-xdp";

class GatewayDaemon {
 public:
  GatewayDaemon(const GatewaySettings& settings, const DaemonFlags& flags, std::ostream& out)
      : settings_(settings), flags_(flags), out_(out) {}

  Status open();
  Status run();

 private:
  void install(const std::vector<in_network::SlotJob>& jobs);
  Status install(const in_network::SlotJob& job);
  void reload();
  void report() const;
  Status turn();

  const GatewaySettings& settings_;
  const DaemonFlags& flags_;
  std::ostream& out_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<switchd::EpochFile> epochs_;
  std::unique_ptr<UdpPort> port_;
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<ReplySender> sender_;
  XdpMode mode_ = XdpMode::any;
  std::vector<std::uint16_t> handles_;  // of the jobs in the settings
  std::unique_ptr<Waker> waker_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> reload_ = false;
  std::unique_ptr<StopSignals> signals_;  // ends before what its handler uses
};

// The port is the kernel's: without it, the kernel would answer what XDP passes on with an error.
Status GatewayDaemon::open() {
  TRIBUTARY_ASSIGN(const LogOptions log_options, settings_.common.log_options());
  log_ = make_stream_log(log_options);
  TRIBUTARY_ASSIGN(switchd::EpochFile epochs, switchd::EpochFile::open(settings_.state));
  epochs_ = std::make_unique<switchd::EpochFile>(std::move(epochs));
  TRIBUTARY_ASSIGN(port_, UdpPort::open({.listen = settings_.gateway.listen,
                                         .segments = settings_.segments,
                                         .batch = settings_.batch}));
  TRIBUTARY_ASSIGN(gateway_, Gateway::load(settings_.gateway));
  sender_ = std::make_unique<ReplySender>(*port_, *gateway_, settings_.gateway.group);
  // Before the jobs: an epoch that is remembered can never be installed again.
  TRIBUTARY_ASSIGN(mode_, gateway_->attach(settings_.device, settings_.mode));
  install(settings_.jobs);
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  waker_ = std::make_unique<Waker>(std::move(waker));
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) {
                     (signal == SIGHUP ? reload_ : stop_) = true;
                     waker_->signal();
                   }));
  log_->info(kGatewayComponent, "attached",
             {{"device", settings_.device},
              {"mode", name(mode_)},
              {"address", port_->address().text()},
              {"slots", gateway_->table().slots()}});
  return notify_service_manager("READY=1");
}

// An epoch that was served before a restart stays refused: its sums are gone.
Status GatewayDaemon::install(const in_network::SlotJob& job) {
  TRIBUTARY_TRY(epochs_->remember(job.handle, job.epoch));
  return gateway_->install(job);
}

void GatewayDaemon::install(const std::vector<in_network::SlotJob>& jobs) {
  for (const std::uint16_t handle : handles_) {
    if (std::ranges::find(jobs, handle, &in_network::SlotJob::handle) != jobs.end()) continue;
    ignore_error(gateway_->remove(handle));  // it may never have been installed
  }
  handles_.clear();
  for (const in_network::SlotJob& job : jobs) {
    handles_.push_back(job.handle);
    if (!epochs_->is_new(job.handle, job.epoch)) {
      log_->warning(kGatewayComponent, "epoch not installed: it was used before",
                    {{"job", job.handle}, {"epoch", job.epoch}});
      continue;
    }
    const Status status = install(job);
    if (status.ok()) {
      log_->info(kGatewayComponent, "epoch installed",
                 {{"job", job.handle}, {"epoch", job.epoch}, {"agents", job.agents}});
    } else {
      log_->error(kGatewayComponent, "epoch not installed", {{"error", status.text()}});
    }
  }
}

void GatewayDaemon::reload() {
  const Result<GatewaySettings> settings = read_gateway_settings(flags_);
  if (settings.ok()) {
    install(settings->jobs);
  } else {
    log_->error(kGatewayComponent, "settings not read again",
                {{"error", settings.status().text()}});
  }
  report();
}

void GatewayDaemon::report() const {
  const GatewayCounters counters = gateway_->counters();
  const in_network::SlotCounters& c = counters.rules;
  log_->info(kGatewayComponent, "counters",
             {{"contributions", c.contributions},
              {"results", c.results},
              {"repeats", c.repeats},
              {"refusals", c.refusals},
              {"dropped", c.dropped()}});
  if (!flags_.json) return;
  nlohmann::ordered_json drops;
  for (std::size_t i = 1; i < in_network::kDropReasons; ++i) {
    drops[std::string(in_network::name(static_cast<in_network::DropReason>(i)))] = c.drops[i];
  }
  const nlohmann::ordered_json all = {{"mode", name(mode_)},
                                      {"jobs", gateway_->table().jobs()},
                                      {"slots", gateway_->table().slots()},
                                      {"slots_free", gateway_->table().slots_free()},
                                      {"contributions", c.contributions},
                                      {"repeats", c.repeats},
                                      {"results", c.results},
                                      {"resent", c.resent},
                                      {"refusals", c.refusals},
                                      {"drops", drops},
                                      {"reflected", counters.reflected},
                                      {"handed_over", counters.handed_over},
                                      {"passed", port_->counters().received},
                                      {"sent", port_->counters().sent},
                                      {"unsent", counters.unsent + port_->counters().unsent}};
  out_ << all.dump() << std::endl;
}

Status GatewayDaemon::turn() {
  // The kernel had these packets: they were no plain IPv4 packets in one piece.
  TRIBUTARY_TRY(port_->receive([](ByteSpan, UdpAddress) {}).status());
  TRIBUTARY_TRY(gateway_->take_replies([this](const XdpReply& reply) { sender_->take(reply); }));
  sender_->flush();
  return {};
}

Status GatewayDaemon::run() {
  while (!stop_) {
    std::array<pollfd, 3> ready = {
        pollfd{.fd = port_->file(), .events = POLLIN, .revents = 0},
        pollfd{.fd = gateway_->replies_file(), .events = POLLIN, .revents = 0},
        pollfd{.fd = waker_->file(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), -1);
    waker_->take();
    if (reload_.exchange(false)) reload();
    TRIBUTARY_TRY(turn());
  }
  report();
  ignore_error(notify_service_manager("STOPPING=1"));
  log_->info(kGatewayComponent, "ended");
  return {};
}

}  // namespace

Status run_gateway(const GatewaySettings& settings, const DaemonFlags& flags, std::ostream& out) {
  GatewayDaemon daemon(settings, flags, out);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary::switch_xdp
