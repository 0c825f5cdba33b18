#include "switch_p4/switchd/daemon.h"

#include <fmt/format.h>
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
#include "switch_p4/switchd/epoch_file.h"
#include "switch_p4/switchd/job_text.h"
#include "switch_p4/switchd/switch_loop.h"

namespace tributary::switchd {
namespace {

constexpr std::string_view kComponent = "switch";

Settings::Accept accept_address(UdpAddress& target) {
  return [&target](const Settings::Value& value) -> Status {
    const auto* const text = std::get_if<std::string>(&value);
    TRIBUTARY_ASSIGN(target, UdpAddress::parse(text != nullptr ? *text : ""));
    return {};
  };
}

Result<LogOptions> log_options_of(const SwitchSettings& settings) {
  CommonSettings common;
  common.log_level = settings.log_level;
  common.log_json = settings.log_json;
  return common.log_options();
}

class SwitchDaemon {
 public:
  SwitchDaemon(const SwitchSettings& settings, const DaemonFlags& flags, std::ostream& out)
      : settings_(settings), flags_(flags), out_(out) {}

  Status open();
  Status run();

 private:
  void install(const std::vector<in_network::SlotJob>& jobs);
  void reload();
  void report();

  const SwitchSettings& settings_;
  const DaemonFlags& flags_;
  std::ostream& out_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<EpochFile> epochs_;
  std::unique_ptr<in_network::SlotRules> rules_;
  std::unique_ptr<UdpPort> port_;
  std::unique_ptr<SwitchLoop> loop_;
  std::vector<std::uint16_t> handles_;  // of the jobs in the settings
  std::unique_ptr<Waker> waker_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> reload_ = false;
  std::unique_ptr<StopSignals> signals_;  // ends before what its handler uses
};

Status SwitchDaemon::open() {
  TRIBUTARY_ASSIGN(const LogOptions log_options, log_options_of(settings_));
  log_ = make_stream_log(log_options);
  TRIBUTARY_ASSIGN(EpochFile epochs, EpochFile::open(settings_.state));
  epochs_ = std::make_unique<EpochFile>(std::move(epochs));
  TRIBUTARY_ASSIGN(in_network::SlotRules rules, in_network::SlotRules::make(settings_.slots));
  rules_ = std::make_unique<in_network::SlotRules>(std::move(rules));
  TRIBUTARY_ASSIGN(port_, UdpPort::open({.listen = settings_.listen,
                                         .segments = settings_.segments,
                                         .batch = settings_.batch}));
  loop_ = std::make_unique<SwitchLoop>(*port_, *rules_, settings_.group);
  install(settings_.jobs);
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  waker_ = std::make_unique<Waker>(std::move(waker));
  TRIBUTARY_ASSIGN(signals_, StopSignals::open([this](int signal) {
                     (signal == SIGHUP ? reload_ : stop_) = true;
                     waker_->signal();
                   }));
  log_->info(kComponent, "listening",
             {{"address", port_->address().text()},
              {"slots", rules_->slots()},
              {"gro", port_->joins_segments()},
              {"gso", port_->cuts_segments()}});
  return notify_service_manager("READY=1");
}

// An epoch that was served before a restart stays refused: its sums are gone.
void SwitchDaemon::install(const std::vector<in_network::SlotJob>& jobs) {
  for (const std::uint16_t handle : handles_) {
    if (std::ranges::find(jobs, handle, &in_network::SlotJob::handle) != jobs.end()) continue;
    ignore_error(rules_->remove(handle));  // it may never have been installed
  }
  handles_.clear();
  for (const in_network::SlotJob& job : jobs) {
    handles_.push_back(job.handle);
    if (!epochs_->is_new(job.handle, job.epoch)) {
      log_->warning(kComponent, "epoch not installed: it was used before",
                    {{"job", job.handle}, {"epoch", job.epoch}});
      continue;
    }
    Status status = epochs_->remember(job.handle, job.epoch);
    if (status.ok()) status = rules_->install(job);
    if (status.ok()) {
      log_->info(kComponent, "epoch installed",
                 {{"job", job.handle}, {"epoch", job.epoch}, {"agents", job.agents}});
    } else {
      log_->error(kComponent, "epoch not installed", {{"error", status.text()}});
    }
  }
}

void SwitchDaemon::reload() {
  const Result<SwitchSettings> settings = read_switch_settings(flags_);
  if (settings.ok()) {
    install(settings->jobs);
  } else {
    log_->error(kComponent, "settings not read again", {{"error", settings.status().text()}});
  }
  report();
}

void SwitchDaemon::report() {
  const in_network::SlotCounters& c = rules_->counters();
  const UdpCounters& u = port_->counters();
  log_->info(kComponent, "counters",
             {{"contributions", c.contributions},
              {"results", c.results},
              {"repeats", c.repeats},
              {"refusals", c.refusals},
              {"dropped", c.dropped()}});
  if (!flags_.json) return;
  nlohmann::ordered_json drops;
  for (std::size_t i = 1; i < in_network::kDropReasons; ++i) {
    drops[std::string(name(static_cast<in_network::DropReason>(i)))] = c.drops[i];
  }
  const nlohmann::ordered_json all = {{"jobs", rules_->jobs()},
                                      {"slots", rules_->slots()},
                                      {"slots_free", rules_->slots_free()},
                                      {"contributions", c.contributions},
                                      {"repeats", c.repeats},
                                      {"results", c.results},
                                      {"resent", c.resent},
                                      {"refusals", c.refusals},
                                      {"drops", drops},
                                      {"received", u.received},
                                      {"receive_calls", u.receive_calls},
                                      {"sent", u.sent},
                                      {"send_calls", u.send_calls},
                                      {"unsent", u.unsent}};
  out_ << all.dump() << std::endl;
}

Status SwitchDaemon::run() {
  while (!stop_) {
    std::array<pollfd, 2> ready = {pollfd{.fd = port_->file(), .events = POLLIN, .revents = 0},
                                   pollfd{.fd = waker_->file(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), -1);
    waker_->take();
    if (reload_.exchange(false)) reload();
    TRIBUTARY_TRY(loop_->turn().status());
  }
  report();
  ignore_error(notify_service_manager("STOPPING=1"));
  log_->info(kComponent, "ended");
  return {};
}

}  // namespace

Result<SwitchSettings> read_switch_settings(const DaemonFlags& flags) {
  SwitchSettings read;
  std::vector<std::string> jobs;
  Settings settings;
  settings.text("log.level", read.log_level);
  settings.flag("log.json", read.log_json);
  settings.bind("switch.listen", accept_address(read.listen));
  settings.bind("switch.group", accept_address(read.group));
  settings.number("switch.slots", read.slots, 1u, in_network::kSlotsMax);
  settings.number("switch.batch", read.batch, 1u, 1024u);
  settings.flag("switch.segments", read.segments);
  settings.text("switch.state", read.state);
  settings.texts("switch.jobs", jobs);
  TRIBUTARY_TRY(fill(settings, flags));
  TRIBUTARY_TRY(log_options_of(read).status());
  if (!settings.given("switch.listen")) {
    return settings.missing("switch.listen", "set it, for example to 192.168.1.1:4650");
  }
  if (read.state.empty()) {
    return settings.missing("switch.state", "name the file of the epochs that were installed");
  }
  if (settings.given("switch.group") && !read.group.is_multicast()) {
    return Status(StatusCode::invalid_argument, {.what = "'switch.group'",
                                                 .expected = "an address in 224.0.0.0/4",
                                                 .got = read.group.text()});
  }
  for (const std::string& text : jobs) {
    TRIBUTARY_ASSIGN(in_network::SlotJob job, parse_job(text));
    read.jobs.push_back(std::move(job));
  }
  return read;
}

Status run_switch(const SwitchSettings& settings, const DaemonFlags& flags, std::ostream& out) {
  SwitchDaemon daemon(settings, flags, out);
  TRIBUTARY_TRY(daemon.open());
  return daemon.run();
}

}  // namespace tributary::switchd
