#include "core/net/udp/udp_port.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstring>
#include <map>
#include <vector>

namespace tributary {
namespace {

constexpr std::uint32_t kLoopback = 0x7f000001;

std::unique_ptr<UdpPort> loopback_port(bool segments) {
  auto port = UdpPort::open({.listen = {.ip = kLoopback}, .segments = segments});
  EXPECT_TRUE(port.ok()) << port.status().text();
  return *std::move(port);
}

// Waits for `count` datagrams, for ten seconds at most.
std::vector<Bytes> received(UdpPort& port, std::size_t count, UdpAddress from) {
  std::vector<Bytes> all;
  while (all.size() < count) {
    pollfd ready = {.fd = port.file(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 10'000) != 1) break;
    const auto got = port.receive([&](ByteSpan bytes, UdpAddress source) {
      EXPECT_EQ(source, from);
      all.emplace_back(bytes.begin(), bytes.end());
    });
    EXPECT_TRUE(got.ok());
  }
  return all;
}

class UdpPortTest : public testing::TestWithParam<bool> {};

TEST_P(UdpPortTest, DatagramsOfAllSizesArriveWhole) {
  const auto a = loopback_port(GetParam());
  const auto b = loopback_port(true);
  std::vector<Bytes> sent;
  for (std::size_t i = 0; i < 100; ++i) {
    // Runs of equal sizes, single ones, and an empty one.
    const std::size_t size = i == 50 ? 0 : i < 40 ? 1080 : i < 60 ? 24 : 24 + i;
    sent.emplace_back(size, static_cast<std::uint8_t>(i));
  }
  for (const Bytes& bytes : sent) {
    const std::size_t cut = std::min<std::size_t>(bytes.size(), 24);
    a->queue(b->address(), ByteSpan(bytes).first(cut), ByteSpan(bytes).subspan(cut));
  }
  a->flush();
  EXPECT_EQ(received(*b, sent.size(), a->address()), sent);
  EXPECT_EQ(a->counters().sent, sent.size());
  EXPECT_EQ(b->counters().received, sent.size());
  EXPECT_LE(b->counters().receive_calls, sent.size());
  EXPECT_LE(a->counters().send_calls, a->cuts_segments() ? sent.size() / 10 : sent.size());
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutSegments, UdpPortTest, testing::Bool());

TEST(UdpPort, NothingToReceiveIsNoError) {
  const auto port = loopback_port(true);
  const auto got = port->receive([](ByteSpan, UdpAddress) { FAIL(); });
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, 0u);
}

TEST(UdpPort, APeerIsTheOnlySource) {
  const auto peer = loopback_port(true);
  const auto stranger = loopback_port(true);
  const auto port =
      *UdpPort::open({.listen = {.ip = kLoopback}, .peer = peer->address(), .batch = 4});
  const Bytes from_stranger(3, 1);
  const Bytes from_peer(5, 2);
  stranger->queue(port->address(), from_stranger);
  stranger->flush();
  peer->queue(port->address(), from_peer);
  peer->flush();
  EXPECT_EQ(received(*port, 1, peer->address()), std::vector<Bytes>{from_peer});
  EXPECT_EQ(port->counters().received, 1u);
}

TEST(UdpPort, APeerWithoutAProcessIsCounted) {
  const UdpAddress gone = loopback_port(true)->address();
  const auto port = *UdpPort::open({.listen = {.ip = kLoopback}, .peer = gone});
  const Bytes bytes(24);
  port->queue(gone, bytes);
  port->flush();
  for (int i = 0; i < 1'000 && port->counters().refused == 0; ++i) {
    pollfd ready = {.fd = port->file(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    ASSERT_TRUE(port->receive([](ByteSpan, UdpAddress) { FAIL(); }).ok());
  }
  EXPECT_EQ(port->counters().refused, 1u);
}

TEST(UdpPort, AGroupReachesAllThatListenToIt) {
  const auto sender = loopback_port(true);
  const UdpAddress group = {.ip = 0xefff2a01, .port = sender->address().port};  // 239.255.42.1
  std::vector<std::unique_ptr<UdpPort>> listeners;
  for (int i = 0; i < 2; ++i) {
    auto port = UdpPort::open({.listen = group, .group_interface = kLoopback});
    ASSERT_TRUE(port.ok()) << port.status().text();
    listeners.push_back(*std::move(port));
  }
  const Bytes bytes(24, 7);
  sender->queue(group, bytes);
  sender->flush();
  for (const auto& listener : listeners) {
    EXPECT_EQ(received(*listener, 1, sender->address()), std::vector<Bytes>{bytes});
  }
}

TEST(UdpPort, APortInUseIsAnError) {
  const auto port = loopback_port(true);
  const auto second = UdpPort::open({.listen = port->address()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::io_error);
  EXPECT_FALSE(UdpPort::open({.listen = {.ip = kLoopback}, .batch = 0}).ok());
}

}  // namespace
}  // namespace tributary
