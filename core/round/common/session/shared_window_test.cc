// Tests of the window of bytes in flight to all sessions together: its bound, the turns of the
// sessions that wait, and sessions that acknowledge nothing.
#include "core/round/common/session/shared_window.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tributary {
namespace {

constexpr TimeNs kSecond = 1'000'000'000;

TEST(SharedWindow, AShareWithoutAWindowBoundsNothing) {
  SharedWindow::Share share;
  EXPECT_TRUE(share.admits(0, UINT64_MAX));
  share.sent(0, 10);
  share.acknowledged(1, 10);
}

TEST(SharedWindow, BytesOfAllSessionsShareTheBound) {
  SharedWindow window(100);
  SharedWindow::Share one = window.join(1);
  SharedWindow::Share two = window.join(2);
  ASSERT_TRUE(one.admits(0, 60));
  one.sent(0, 60);
  EXPECT_FALSE(two.admits(0, 50));
  EXPECT_EQ(window.next(0), std::nullopt) << "no room yet";
  one.acknowledged(1, 20);
  EXPECT_EQ(window.next(1), 2u);
  EXPECT_TRUE(two.admits(1, 50));
  two.sent(1, 50);
  EXPECT_EQ(window.next(1), std::nullopt);
  EXPECT_EQ(window.bytes_under_way(), 90u);
}

TEST(SharedWindow, APartAboveTheBoundIsSentAlone) {
  SharedWindow window(100);
  SharedWindow::Share one = window.join(1);
  SharedWindow::Share two = window.join(2);
  ASSERT_TRUE(two.admits(0, 1));
  two.sent(0, 1);
  EXPECT_FALSE(one.admits(0, 500));
  two.acknowledged(1, 1);
  EXPECT_EQ(window.next(1), 1u);
  EXPECT_TRUE(one.admits(1, 500));
}

TEST(SharedWindow, SessionsThatWaitHaveTurns) {
  SharedWindow window(100);
  std::vector<SharedWindow::Share> shares;
  for (std::uint64_t session = 0; session < 4; ++session) shares.push_back(window.join(session));
  ASSERT_TRUE(shares[0].admits(0, 100));
  shares[0].sent(0, 100);
  EXPECT_FALSE(shares[1].admits(0, 80));
  EXPECT_FALSE(shares[2].admits(0, 10));
  EXPECT_FALSE(shares[3].admits(0, 10));
  shares[0].acknowledged(1, 50);
  EXPECT_FALSE(shares[0].admits(1, 10)) << "others wait, and it has had its turn";
  EXPECT_EQ(window.next(1), std::nullopt) << "a small part does not overtake a large one";
  shares[0].acknowledged(2, 50);
  EXPECT_EQ(window.next(2), 1u);
  ASSERT_TRUE(shares[1].admits(2, 80));
  shares[1].sent(2, 80);
  EXPECT_FALSE(shares[1].admits(2, 80)) << "waits again, behind all others";
  for (const std::uint64_t session : {2u, 3u}) {
    EXPECT_EQ(window.next(2), session);
    ASSERT_TRUE(shares[session].admits(2, 10));
    shares[session].sent(2, 10);
  }
  shares[1].acknowledged(3, 80);
  EXPECT_EQ(window.next(3), 0u);
  EXPECT_EQ(window.next(3), 1u);
}

TEST(SharedWindow, ASilentSessionDelaysNoOther) {
  SharedWindow window(100);
  SharedWindow::Share silent = window.join(1);
  SharedWindow::Share other = window.join(2);
  silent.sent(0, 100);
  EXPECT_FALSE(other.admits(1, 10));
  EXPECT_EQ(window.next(kSecond - 1), std::nullopt);
  EXPECT_EQ(window.next_due_ns(), kSecond);
  EXPECT_EQ(window.next(kSecond), 2u);
  EXPECT_TRUE(other.admits(kSecond, 10));
  other.sent(kSecond, 10);
  EXPECT_EQ(window.bytes_under_way(), 110u) << "all bytes in flight are visible";
  EXPECT_FALSE(silent.admits(kSecond, 10)) << "it sends nothing more";
  silent.acknowledged(2 * kSecond, 90);
  EXPECT_EQ(window.bytes_under_way(), 20u);
  EXPECT_TRUE(silent.admits(2 * kSecond, 10)) << "it counts again";
}

TEST(SharedWindow, NoSessionIsSilentWhileNoneWaits) {
  SharedWindow window(100);
  SharedWindow::Share slow = window.join(1);
  slow.sent(0, 50);
  EXPECT_EQ(window.next_due_ns(), kNever);
  EXPECT_TRUE(slow.admits(60 * kSecond, 50)) << "a link with a long round trip is kept full";
}

TEST(SharedWindow, ALostSessionReturnsItsBytes) {
  SharedWindow window(100);
  SharedWindow::Share waits = window.join(1);
  {
    SharedWindow::Share lost = window.join(2);
    lost.sent(0, 100);
    const SharedWindow::Share moved = std::move(lost);
    EXPECT_FALSE(waits.admits(0, 10));
    EXPECT_EQ(window.bytes_under_way(), 100u);
  }
  EXPECT_EQ(window.bytes_under_way(), 0u);
  EXPECT_EQ(window.next(0), 1u);
}

TEST(SharedWindow, ASessionThatWaitedMayLeave) {
  SharedWindow window(100);
  SharedWindow::Share busy = window.join(1);
  busy.sent(0, 100);
  SharedWindow::Share stays = window.join(3);
  {
    SharedWindow::Share leaves = window.join(2);
    EXPECT_FALSE(leaves.admits(0, 10));
  }
  EXPECT_FALSE(stays.admits(0, 10));
  busy.acknowledged(1, 100);
  EXPECT_EQ(window.next(1), 3u);
  EXPECT_EQ(window.next(1), std::nullopt);
}

}  // namespace
}  // namespace tributary
