// The common part of the tests that mpirun starts. Every rank runs the same cases in the same
// order, and in each case all ranks open and leave a mesh together.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/net/mpi/mpi_mesh.h"

namespace tributary::ranks_testing {

inline MpiSession* session = nullptr;  // set by main()

// The mesh of one case. The deadlines only end a test that hangs.
class Ranks : public testing::Test {
 protected:
  static constexpr std::chrono::seconds kLate{60};

  void open(const MpiMeshOptions& options = {}) {
    Result<std::unique_ptr<PeerTransport>> opened = open_mpi_mesh(*session, options, clock_);
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    mesh_ = *std::move(opened);
  }

  std::uint32_t rank() const { return session->rank(); }
  std::uint32_t size() const { return session->size(); }
  std::uint32_t next() const { return (rank() + 1) % size(); }
  std::uint32_t previous() const { return (rank() + size() - 1) % size(); }

  // Returns the next received, or fails if none arrives within kLate.
  std::optional<LinkEvent> event() {
    if (!held_.empty()) {
      LinkEvent first = std::move(held_.front());
      held_.pop_front();
      return first;
    }
    const auto deadline = clock_.now() + kLate;
    while (clock_.now() < deadline) {
      Result<std::optional<LinkEvent>> received = mesh_->receive(deadline);
      EXPECT_TRUE(received.ok()) << received.status().text();
      if (!received.ok() || *received) return received.ok() ? *std::move(received) : std::nullopt;
    }
    ADD_FAILURE() << "rank " << rank() << ": nothing came";
    return std::nullopt;
  }
  // Waits for a message. Members that have finished may leave before it arrives.
  std::optional<Received> message() {
    for (;;) {
      std::optional<LinkEvent> received = event();
      if (!received) return std::nullopt;
      auto* const lost = std::get_if<Disconnected>(&*received);
      if (lost == nullptr) return std::move(std::get<Received>(*received));
      EXPECT_EQ(lost->why.code(), StatusCode::unavailable) << lost->why.text();
      EXPECT_EQ(lost->unsent_bytes, 0u);
    }
  }
  // Waits for the loss of this member. Other members may leave before.
  std::optional<Disconnected> loss_of(std::uint32_t member) {
    for (;;) {
      std::optional<LinkEvent> received = event();
      auto* const lost = received ? std::get_if<Disconnected>(&*received) : nullptr;
      if (lost == nullptr) break;
      if (lost->connection == member) return std::move(*lost);
      EXPECT_EQ(lost->why.code(), StatusCode::unavailable) << lost->why.text();
    }
    ADD_FAILURE() << "rank " << rank() << ": member " << member << " was not lost";
    return std::nullopt;
  }
  // Sends all waiting messages. Other ranks may be ahead, so messages that arrive meanwhile are
  // kept.
  void send_all() {
    const auto deadline = clock_.now() + kLate;
    while (mesh_->waiting_bytes() > 0 && clock_.now() < deadline) {
      Result<std::optional<LinkEvent>> received = mesh_->receive(deadline);
      ASSERT_TRUE(received.ok()) << received.status().text();
      if (*received) held_.push_back(**std::move(received));
    }
    ASSERT_EQ(mesh_->waiting_bytes(), 0u);
  }

  const SystemClock clock_{};
  std::unique_ptr<PeerTransport> mesh_;
  // Events that send_all() has kept.
  std::deque<LinkEvent> held_;
};

}  // namespace tributary::ranks_testing
