#include "tests/end_to_end/federation/aggregator.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <vector>

#include "core/collective/in_network/packet.h"
#include "core/net/access/allow_list.h"
#include "core/net/udp/udp_testing.h"
#include "core/service/metrics/scrape_testing.h"
#include "tests/end_to_end/federation/tcp.h"

namespace tributary::end_to_end {
namespace {

constexpr std::uint32_t kLoopback = 0x7f000001;

std::unique_ptr<UdpPort> loopback_port(UdpAddress peer = {}) {
  auto port = UdpPort::open({.listen = {.ip = kLoopback}, .peer = peer});
  EXPECT_TRUE(port.ok()) << port.status().text();
  return *std::move(port);
}

}  // namespace

Aggregator::Aggregator(Federation& federation)
    : federation_(federation), address_(net_testing::address_of_own()) {
  const KeyPair keys = make_key_pair().value();
  EXPECT_TRUE(write_key_pair(federation.path("gateway.key"), keys).ok());
  const Status allowed =
      allow_in_file(federation.path("agents.allow"), {.id = id(), .key = keys.public_key});
  EXPECT_TRUE(allowed.ok()) << allowed.text();
}

void Aggregator::start(const std::optional<UdpAddress>& advertise,
                       const std::vector<std::string>& settings) {
  std::vector<std::string> command = {TRIBUTARY_SWITCHD, "--json"};
  const auto set = [&](const std::string& setting) {
    command.emplace_back("--set");
    command.push_back(setting);
  };
  set("agent_id=" + id());
  set("switch.listen=" + address_.text());
  if (advertise) set("switch.advertise=" + advertise->text());
  set("switch.state=" + state());
  set("metrics.listen=127.0.0.1:0");
  set("link.coordinator=" + federation_.endpoint());
  set("link.coordinator_key=" + key_text(federation_.keys_of_coordinator().public_key));
  set("link.key_file=" + federation_.path("gateway.key"));
  for (const std::string& setting : settings) set(setting);
  process_.emplace(command, federation_.path("gateway.log"));
  ASSERT_TRUE(process_->logs({"listening"})) << federation_.path("gateway.log");
  ASSERT_TRUE(process_->logs({"connected"})) << federation_.path("gateway.log");
}

double Aggregator::metric(const std::string& series) {
  const std::string at = field(process_->lines_with({"metrics", "endpoint="}).at(0), "endpoint");
  return service_testing::value_of(service_testing::scrape(port_of(at)), series);
}

TamperingPath::TamperingPath(UdpAddress aggregator)
    : aggregator_(aggregator), front_(loopback_port()), thread_([this] { run(); }) {}

TamperingPath::~TamperingPath() {
  running_ = false;
  thread_.join();
}

void TamperingPath::run() {
  while (running_) {
    std::vector<pollfd> files = {{.fd = front_->file(), .events = POLLIN, .revents = 0}};
    for (const auto& [agent, port] : back_) {
      files.push_back({.fd = port->file(), .events = POLLIN, .revents = 0});
    }
    ::poll(files.data(), files.size(), 20);
    pass_to_aggregator();
    for (const auto& [agent, port] : back_) pass_back(UdpAddress::of_number(agent), *port);
  }
}

// Each agent keeps a source of its own.
void TamperingPath::pass_to_aggregator() {
  const auto got = front_->receive([this](ByteSpan bytes, UdpAddress from) {
    if (drops_) {
      ++dropped_;
      return;
    }
    std::unique_ptr<UdpPort>& port = back_[from.number()];
    if (!port) port = loopback_port(aggregator_);
    port->queue(aggregator_, bytes);
    port->flush();
  });
  EXPECT_TRUE(got.ok()) << got.status().text();
}

void TamperingPath::pass_back(UdpAddress agent, UdpPort& from) {
  const auto got = from.receive([&](ByteSpan bytes, UdpAddress) {
    Bytes changed(bytes.begin(), bytes.end());
    in_network::Packet packet;
    if (tampers_ && in_network::parse_packet(bytes, packet) == in_network::DropReason::none &&
        packet.header.type == in_network::PacketType::result) {
      ++changed.back();
      ++tampered_;
    }
    front_->queue(agent, changed);
    front_->flush();
  });
  EXPECT_TRUE(got.ok()) << got.status().text();
}

}  // namespace tributary::end_to_end
