#include "switch_p4/switchd/switch_thread.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/collective/in_network/packet.h"

namespace tributary::switchd {
namespace {

using in_network::PacketType;

constexpr std::uint32_t kLoopback = 0x7f000001;

in_network::SlotJob job_of(std::uint32_t epoch) {
  in_network::SlotJob job;
  job.handle = 7;
  job.epoch = epoch;
  job.agents = 1;
  job.granularity = 30;
  for (std::uint16_t i = 0; i < 16; ++i) job.places[i] = static_cast<std::uint16_t>(2 * i);
  job.table = 99;
  job.slots = 4;
  return job;
}

// Sends a contribution of 64 levels to the thread and returns the type of the reply.
PacketType reply_to(UdpPort& port, UdpAddress to, std::uint32_t epoch) {
  Bytes packet(in_network::kHeaderBytes + 32, 0x11);
  in_network::write_header({.type = PacketType::contribution,
                            .agents = 1,
                            .job = 7,
                            .epoch = epoch,
                            .count = 64,
                            .table = 99},
                           packet.data());
  port.queue(to, packet);
  port.flush();
  in_network::Packet reply;
  bool got = false;
  for (int i = 0; i < 6'000 && !got; ++i) {
    pollfd ready = {.fd = port.file(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, 10);
    const auto received = port.receive([&](ByteSpan bytes, UdpAddress) {
      got = in_network::parse_packet(bytes, reply) == in_network::DropReason::none;
    });
    EXPECT_TRUE(received.ok());
  }
  EXPECT_TRUE(got) << "no reply";
  EXPECT_EQ(reply.header.epoch, epoch);
  return reply.header.type;
}

// Epochs are installed while other threads ask for figures, and each is served at once.
TEST(SwitchThread, AnInstalledEpochIsServedAtOnce) {
  auto thread = SwitchThread::open({.listen = {.ip = kLoopback}, .slots = 8});
  ASSERT_TRUE(thread.ok()) << thread.status().text();
  const auto port = *UdpPort::open({.listen = {.ip = kLoopback}});
  std::atomic<bool> ask = true;
  std::vector<std::thread> askers;
  for (int i = 0; i < 2; ++i) {
    askers.emplace_back([&] {
      while (ask) EXPECT_EQ((*thread)->figures().slots, 8u);
    });
  }
  constexpr std::uint32_t kEpochs = 20;
  for (std::uint32_t epoch = 1; epoch <= kEpochs; ++epoch) {
    EXPECT_TRUE((*thread)->install(job_of(epoch)).ok());
    EXPECT_EQ(reply_to(*port, (*thread)->address(), epoch), PacketType::result);
  }
  EXPECT_EQ((*thread)->install(job_of(kEpochs)).code(), StatusCode::mismatch);
  ask = false;
  for (std::thread& asker : askers) asker.join();
  const SwitchFigures figures = (*thread)->figures();
  EXPECT_EQ(figures.packets.results, kEpochs);
  ASSERT_EQ(figures.jobs.size(), 1u);
  EXPECT_EQ(figures.jobs[0].epoch, kEpochs);
  EXPECT_EQ(figures.slots_free, 4u);
}

TEST(SwitchThread, ARemovedJobIsRefused) {
  auto thread = SwitchThread::open({.listen = {.ip = kLoopback}, .slots = 8});
  ASSERT_TRUE(thread.ok()) << thread.status().text();
  const auto port = *UdpPort::open({.listen = {.ip = kLoopback}});
  ASSERT_TRUE((*thread)->install(job_of(1)).ok());
  EXPECT_TRUE((*thread)->remove(7).ok());
  EXPECT_EQ((*thread)->remove(7).code(), StatusCode::not_found);
  EXPECT_EQ(reply_to(*port, (*thread)->address(), 1), PacketType::refusal);
  EXPECT_TRUE((*thread)->figures().jobs.empty());
  EXPECT_TRUE((*thread)->status().ok());
}

}  // namespace
}  // namespace tributary::switchd
