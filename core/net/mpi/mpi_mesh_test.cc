// Tests of the mesh over MPI. mpirun runs them on several ranks, and every rank runs the same
// cases.
#include "core/net/mpi/mpi_mesh.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/net/mpi/ranks_testing.h"

namespace tributary {
namespace {

constexpr std::size_t kKiB = 1024;

class MpiMesh : public ranks_testing::Ranks {
 protected:
  // Waits until all ranks have reached this point, so that none leaves early. It uses no received
  // of the mesh.
  static void barrier() { ASSERT_EQ(MPI_Barrier(MPI_COMM_WORLD), MPI_SUCCESS); }
};

// Content that no other message has.
Bytes content(std::size_t bytes, std::uint32_t from, std::uint32_t to, std::uint32_t number) {
  Bytes out(bytes);
  std::uint32_t state = from * 7919 + to * 104729 + number * 31 + 1;
  for (std::uint8_t& byte : out) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return out;
}

Bytes frame_of(std::uint32_t from, std::uint32_t to, std::uint32_t number) {
  return content(16 + number % 100, from, to, number + 1000);
}

// Sizes below and above the limit up to which MPI copies, with and without a payload.
constexpr std::size_t kMessageSizes[] = {0, 1, 7, 1000, 4096, 4097, 65537, (1u << 20) + 3};
constexpr std::uint32_t kMessages = 60;

std::size_t size_of(std::uint32_t number) {
  return kMessageSizes[number * 5 % std::size(kMessageSizes)];
}

TEST_F(MpiMesh, EveryRankGetsWhatOthersSendInOrder) {
  open();
  for (std::uint32_t number = 0; number < kMessages; ++number) {
    for (std::uint32_t to = 0; to < size(); ++to) {
      if (to == rank()) continue;
      const Status sent = mesh_->send(to, frame_of(rank(), to, number),
                                      content(size_of(number), rank(), to, number));
      ASSERT_TRUE(sent.ok()) << sent.text();
    }
  }
  std::vector<std::uint32_t> got(size());
  for (std::uint32_t i = 0; i < kMessages * (size() - 1); ++i) {
    const std::optional<Received> received = message();
    ASSERT_TRUE(received);
    const std::uint32_t number = got[received->rank()]++;
    ASSERT_EQ(received->frame, frame_of(received->rank(), rank(), number));
    ASSERT_TRUE(std::ranges::equal(received->payload.view(),
                                   content(size_of(number), received->rank(), rank(), number)));
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(received->payload.view().data()) % 8, 0u);
  }
  send_all();
  EXPECT_EQ(mesh_->counters().messages_in, kMessages * (size() - 1));
  EXPECT_EQ(mesh_->counters().messages_out, kMessages * (size() - 1));
  EXPECT_EQ(mesh_->counters().bytes_in, mesh_->counters().bytes_out);
  EXPECT_EQ(mesh_->counters().wire_bytes_in, mesh_->counters().wire_bytes_out);
}

TEST_F(MpiMesh, WhatIsReceivedAtATimeIsBounded) {
  open({.receive_bytes_max = 1});
  for (std::uint32_t number = 0; number < 20; ++number) {
    ASSERT_TRUE(mesh_
                    ->send(next(), content(8, rank(), next(), number),
                           content(300 * kKiB, rank(), next(), number))
                    .ok());
  }
  for (std::uint32_t number = 0; number < 20; ++number) {
    const std::optional<Received> received = message();
    ASSERT_TRUE(received);
    ASSERT_TRUE(std::ranges::equal(received->payload.view(),
                                   content(300 * kKiB, previous(), rank(), number)));
  }
  send_all();
}

TEST_F(MpiMesh, NoMemberReceivesAnInvalidMessage) {
  open({.limits = {.frame_bytes_max = 100, .payload_bytes_max = 1000}});
  const auto code = [&](std::uint32_t to, std::size_t frame, std::size_t payload) {
    return mesh_->send(to, Bytes(frame), Bytes(payload)).code();
  };
  EXPECT_EQ(code(rank(), 8, 8), StatusCode::invalid_argument);
  EXPECT_EQ(code(size(), 8, 8), StatusCode::invalid_argument);
  EXPECT_EQ(code(next(), 0, 8), StatusCode::invalid_argument);
  EXPECT_EQ(code(next(), 101, 8), StatusCode::invalid_argument);
  EXPECT_EQ(code(next(), 8, 1001), StatusCode::invalid_argument);
  EXPECT_EQ(mesh_->waiting_bytes(), 0u);
  EXPECT_EQ(mesh_->counters().messages_out, 0u);
}

TEST_F(MpiMesh, AFullQueueRefusesUntilItHasSpace) {
  open({.limits = {.send_queue_bytes = 600 * kKiB}});
  const auto send = [&] { return mesh_->send(next(), Bytes(8), Bytes(200 * kKiB)).code(); };
  EXPECT_EQ(send(), StatusCode::ok);
  EXPECT_EQ(send(), StatusCode::ok);
  EXPECT_EQ(send(), StatusCode::resource_exhausted);
  EXPECT_EQ(mesh_->waiting_bytes(), 2 * (8 + 200 * kKiB));
  ASSERT_TRUE(message() && message());
  send_all();
  EXPECT_EQ(send(), StatusCode::ok);
  ASSERT_TRUE(message());
  send_all();
}

// Rank 0 has larger limits than the others and believes that all have the same.
TEST_F(MpiMesh, APayloadAboveTheCapOfWhoReceivesItLosesItsSender) {
  MpiMeshOptions options;
  if (rank() != 0) options.limits.payload_bytes_max = 1000;
  open(options);
  if (rank() == 0) {
    for (std::uint32_t to = 1; to < size(); ++to) {
      ASSERT_TRUE(mesh_->send(to, Bytes(8), Bytes(1001)).ok());
    }
    send_all();
  } else {
    const std::optional<Disconnected> lost = loss_of(0);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->why.code(), StatusCode::corrupt_data);
    EXPECT_EQ(mesh_->send(0, Bytes(8), {}).code(), StatusCode::unavailable);
  }
}

TEST_F(MpiMesh, AFrameAboveTheCapOfWhoReceivesItLosesItsSender) {
  MpiMeshOptions options;
  if (rank() != 0) options.limits.frame_bytes_max = 1000;
  open(options);
  if (rank() == 0) {
    for (std::uint32_t to = 1; to < size(); ++to) {
      ASSERT_TRUE(mesh_->send(to, Bytes(1001), {}).ok());
    }
    send_all();
  } else {
    const std::optional<Disconnected> lost = loss_of(0);
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->why.code(), StatusCode::corrupt_data);
  }
}

// A message that was sent before the sender left arrives first.
TEST_F(MpiMesh, WhoLeavesIsLostToTheOthers) {
  open();
  if (rank() == 0) {
    for (std::uint32_t to = 1; to < size(); ++to) {
      ASSERT_TRUE(mesh_->send(to, Bytes(8), Bytes(500 * kKiB)).ok());
    }
    mesh_.reset();
    return;
  }
  const std::optional<Received> last = message();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->payload.size(), 500 * kKiB);
  const std::optional<Disconnected> lost = loss_of(0);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->why.code(), StatusCode::unavailable);
  EXPECT_EQ(lost->unsent_bytes, 0u);
  EXPECT_EQ(mesh_->send(0, Bytes(8), {}).code(), StatusCode::unavailable);
}

TEST_F(MpiMesh, ADeadlineThatHasPassedIsNotWaitedFor) {
  open();
  const Result<std::optional<LinkEvent>> received = mesh_->receive(clock_.now());
  ASSERT_TRUE(received.ok());
  EXPECT_FALSE(*received);
  barrier();
}

TEST_F(MpiMesh, AnyThreadMayWake) {
  open();
  std::thread other([this] { mesh_->wake(); });
  const auto deadline = clock_.now() + kLate;
  const Result<std::optional<LinkEvent>> received = mesh_->receive(deadline);
  other.join();
  barrier();
  ASSERT_TRUE(received.ok());
  EXPECT_FALSE(*received);
  EXPECT_LT(clock_.now(), deadline);
}

TEST_F(MpiMesh, CapsThatMpiCannotCountAreRefused) {
  for (const MpiMeshOptions& options :
       {MpiMeshOptions{.limits = {.payload_bytes_max = std::size_t{1} << 31}},
        MpiMeshOptions{.limits = {.frame_bytes_max = std::size_t{1} << 31}},
        MpiMeshOptions{.receive_bytes_max = 0}}) {
    EXPECT_EQ(open_mpi_mesh(*ranks_testing::session, options, clock_).status().code(),
              StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary
