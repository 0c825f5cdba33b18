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

TEST(UdpPort, APortInUseIsAnError) {
  const auto port = loopback_port(true);
  const auto second = UdpPort::open({.listen = port->address()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::io_error);
  EXPECT_FALSE(UdpPort::open({.listen = {.ip = kLoopback}, .batch = 0}).ok());
}

}  // namespace
}  // namespace tributary
