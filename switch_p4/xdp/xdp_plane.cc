#include "switch_p4/xdp/xdp_plane.h"

#include <poll.h>

#include <array>
#include <utility>

namespace tributary::switch_xdp {
namespace {

// A dead path of the group is noticed after this time.
constexpr int kWatchEveryMs = 20;

}  // namespace

// The port is the kernel's: without it, the kernel would answer what XDP passes on with an error.
Result<std::unique_ptr<XdpPlane>> XdpPlane::open(const GatewaySettings& settings) {
  const switchd::SwitchThreadOptions& ports = settings.common.ports;
  TRIBUTARY_ASSIGN(
      std::unique_ptr<UdpPort> port,
      UdpPort::open({.listen = ports.listen, .segments = ports.segments, .batch = ports.batch}));
  TRIBUTARY_ASSIGN(
      std::unique_ptr<Gateway> gateway,
      Gateway::load({.slots = ports.slots, .listen = ports.listen, .group = ports.group}));
  TRIBUTARY_ASSIGN(const XdpMode mode, gateway->attach(settings.device, settings.mode));
  TRIBUTARY_ASSIGN(Waker waker, Waker::open());
  return std::unique_ptr<XdpPlane>(
      new XdpPlane(std::move(port), std::move(gateway), settings, mode, std::move(waker)));
}

XdpPlane::XdpPlane(std::unique_ptr<UdpPort> port, std::unique_ptr<Gateway> gateway,
                   const GatewaySettings& settings, XdpMode mode, Waker waker)
    : port_(std::move(port)),
      gateway_(std::move(gateway)),
      address_(port_->address()),
      device_(settings.device),
      mode_(mode),
      has_group_(settings.common.ports.group != UdpAddress()),
      sender_(*port_, *gateway_, settings.common.ports.group),
      waker_(std::move(waker)),
      thread_([this] { run(); }) {}

XdpPlane::~XdpPlane() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  waker_.signal();
  thread_.join();
}

Status XdpPlane::install(const in_network::SlotJob& job) {
  const std::lock_guard lock(mutex_);
  TRIBUTARY_TRY(gateway_->install(job));
  jobs_[job.handle] = job;
  return {};
}

Status XdpPlane::remove(std::uint16_t handle) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(handle);
  return gateway_->remove(handle);
}

// Packets and replies in the kernel count like those through the port.
switchd::SwitchFigures XdpPlane::figures() {
  const std::lock_guard lock(mutex_);
  const GatewayCounters counters = gateway_->counters();
  switchd::SwitchFigures figures;
  figures.mode = name(mode_);
  figures.packets = counters.rules;
  figures.port = port_->counters();
  figures.kernel = {.reflected = counters.reflected,
                    .handed_over = counters.handed_over,
                    .passed = figures.port.received};
  figures.port.received +=
      counters.rules.contributions + counters.rules.repeats + counters.rules.dropped();
  figures.port.sent += counters.reflected;
  figures.port.unsent += counters.unsent;
  figures.group_falls = watch_.falls();
  figures.slots = gateway_->table().slots();
  figures.slots_free = gateway_->table().slots_free();
  for (const auto& [handle, job] : jobs_) figures.jobs.push_back(job);
  return figures;
}

Status XdpPlane::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void XdpPlane::log_start(Log& log) const {
  log.info("switch", "attached",
           {{"device", device_},
            {"mode", name(mode_)},
            {"address", address_.text()},
            {"slots", gateway_->table().slots()}});
}

Status XdpPlane::turn() {
  // The kernel had these packets: they were no plain IPv4 packets in one piece.
  TRIBUTARY_TRY(port_->receive([](ByteSpan, UdpAddress) {}).status());
  TRIBUTARY_TRY(gateway_->take_replies([this](const XdpReply& reply) { sender_.take(reply); }));
  sender_.flush();
  return {};
}

// The kernel's counters say what the program has sent, which this process does not see.
void XdpPlane::watch_group() {
  const in_network::SlotCounters counters = gateway_->counters().rules;
  const bool before = watch_.uses_group();
  watch_.look(counters.results, counters.resent);
  if (watch_.uses_group() != before) gateway_->use_group(!before);
}

void XdpPlane::run() {
  while (true) {
    std::array<pollfd, 3> ready = {
        pollfd{.fd = port_->file(), .events = POLLIN, .revents = 0},
        pollfd{.fd = gateway_->replies_file(), .events = POLLIN, .revents = 0},
        pollfd{.fd = waker_.file(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), has_group_ ? kWatchEveryMs : -1);
    const std::lock_guard lock(mutex_);
    if (ending_) return;
    status_ = turn();
    if (!status_.ok()) return;
    if (has_group_) watch_group();
  }
}

}  // namespace tributary::switch_xdp
