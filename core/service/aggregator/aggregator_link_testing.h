// An aggregator in this process, on a real socket and with the production rules.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/base/random.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/net/udp/udp_port.h"

namespace tributary::service_testing {

// One thread, from start() to stop(). All settings are made while it is stopped.
class TestAggregator {
 public:
  explicit TestAggregator(UdpAddress listen = {.ip = 0x7f000001}) {
    auto port = UdpPort::open({.listen = listen});
    EXPECT_TRUE(port.ok()) << port.status().text();
    port_ = *std::move(port);
    restart();
  }
  ~TestAggregator() { stop(); }
  TestAggregator(const TestAggregator&) = delete;
  TestAggregator& operator=(const TestAggregator&) = delete;

  UdpAddress address() const { return port_->address(); }
  void install(const in_network::SlotJob& job) {
    const Status installed = rules_->install(job);
    EXPECT_TRUE(installed.ok()) << installed.text();
  }
  // Forgets everything.
  void restart() {
    rules_ = std::make_unique<in_network::SlotRules>(*in_network::SlotRules::make(kSlots));
  }
  void start() {
    running_ = true;
    thread_ = std::thread([this] { serve(); });
  }
  void stop() {
    running_ = false;
    if (thread_.joinable()) thread_.join();
  }
  const in_network::SlotCounters& counters() const { return rules_->counters(); }

  std::uint32_t lost_permille = 0;  // in each direction
  UdpAddress group = {};            // results go there
  bool truncates = false;           // the last byte of each reply is missing

 private:
  static constexpr std::uint32_t kSlots = 64;

  bool lost() { return random_bits({5, 6}, draws_++) % 1000 < lost_permille; }
  void serve() {
    while (running_) {
      pollfd ready = {.fd = port_->file(), .events = POLLIN, .revents = 0};
      ::poll(&ready, 1, 5);
      const auto got = port_->receive([this](ByteSpan bytes, UdpAddress from) {
        if (!lost()) answer(bytes, from);
      });
      ASSERT_TRUE(got.ok()) << got.status().text();
    }
  }
  void answer(ByteSpan datagram, UdpAddress from) {
    const in_network::SlotReply reply = rules_->handle(datagram, from.number(), reply_);
    const ByteSpan bytes = ByteSpan(reply_).first(reply.bytes - (truncates && reply.bytes > 0));
    if (reply.to == in_network::ReplyTo::sender) send(from, bytes);
    if (reply.to != in_network::ReplyTo::all_agents) return;
    if (group != UdpAddress()) return send(group, bytes);
    for (const in_network::PacketSource source : rules_->sources(reply.job)) {
      send(UdpAddress::of_number(source), bytes);
    }
  }
  void send(UdpAddress to, ByteSpan bytes) {
    if (lost()) return;
    port_->queue(to, bytes);
    port_->flush();
  }

  std::unique_ptr<UdpPort> port_;
  std::unique_ptr<in_network::SlotRules> rules_;
  Bytes reply_ = Bytes(in_network::kPacketBytesMax);
  std::uint32_t draws_ = 0;
  std::atomic<bool> running_ = false;
  std::thread thread_;
};

}  // namespace tributary::service_testing
