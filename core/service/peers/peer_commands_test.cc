// Tests of the queue of commands to the thread of a peer link: epochs, bounds and waking.
#include "core/service/peers/peer_commands.h"

#include <gtest/gtest.h>

#include <thread>

namespace tributary {
namespace {

OpenPeers empty_epoch(std::uint64_t session) {
  return {.session = session, .member = 0, .members = {}};
}

SendToPeer command_message(std::uint32_t member, std::size_t bytes = 1) {
  return {.member = member, .frame = Bytes(bytes), .payload = {}};
}

struct PeerCommandsTest : testing::Test {
  // Calls begin() and returns the number of the new epoch.
  std::uint64_t begun(std::uint64_t session, std::uint64_t seen = 0) {
    commands.begin(empty_epoch(session));
    const std::optional<PeerCommands::NextEpoch> next = commands.next_epoch(seen);
    EXPECT_TRUE(next && next->epoch);
    EXPECT_EQ(next->epoch->session, session);
    return next->number;
  }

  PeerCommands commands{{.unsent_bytes_max = 100, .unread_bytes_max = 10}};
};

TEST_F(PeerCommandsTest, MessagesOfTheEpochAreTakenInOrder) {
  const std::uint64_t number = begun(7);
  commands.send(command_message(1));
  commands.send(command_message(2));
  const std::optional<PeerCommands::Work> work = commands.work(number);
  ASSERT_TRUE(work);
  ASSERT_EQ(work->sends.size(), 2u);
  EXPECT_EQ(work->sends[0].member, 1u);
  EXPECT_EQ(work->sends[1].member, 2u);
  EXPECT_FALSE(work->overrun_by);
  EXPECT_TRUE(commands.work(number)->sends.empty());
}

TEST_F(PeerCommandsTest, WithoutAnEpochMessagesAreDropped) {
  commands.send(command_message(1));
  const std::uint64_t number = begun(7);
  EXPECT_TRUE(commands.work(number)->sends.empty());
  commands.give_up(number);
  commands.send(command_message(1));
  EXPECT_TRUE(commands.work(number)->sends.empty());
}

TEST_F(PeerCommandsTest, AnotherEpochEndsTheWorkOfTheOneBefore) {
  const std::uint64_t first = begun(7);
  commands.send(command_message(1));
  const std::uint64_t second = begun(8, first);
  EXPECT_FALSE(commands.work(first));
  EXPECT_TRUE(commands.work(second)->sends.empty()) << "it was meant for the first";
  commands.give_up(first);
  commands.send(command_message(1));
  EXPECT_EQ(commands.work(second)->sends.size(), 1u) << "what is over cannot give up another";
}

TEST_F(PeerCommandsTest, ClosingIsAnEpochWithoutMembers) {
  const std::uint64_t first = begun(7);
  commands.begin(std::nullopt);
  const std::optional<PeerCommands::NextEpoch> next = commands.next_epoch(first);
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->epoch);
}

TEST_F(PeerCommandsTest, TooManyBytesNameTheirMember) {
  const std::uint64_t number = begun(7);
  commands.send(command_message(1, 60));
  commands.send(command_message(2, 60));
  commands.send(command_message(3, 1));
  const std::optional<PeerCommands::Work> work = commands.work(number);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->sends.size(), 1u);
  EXPECT_EQ(work->overrun_by, 2u);
}

TEST_F(PeerCommandsTest, AWaiterIsWokenOnceForEachBatch) {
  int woken = 0;
  commands.attach([&] { ++woken; });
  const std::uint64_t number = begun(7);
  EXPECT_EQ(woken, 1);
  commands.send(command_message(1));
  commands.send(command_message(1));
  EXPECT_EQ(woken, 2) << "one wake-up for what is taken together";
  EXPECT_EQ(commands.work(number)->sends.size(), 2u);
  commands.send(command_message(1));
  EXPECT_EQ(woken, 3);
  commands.attach(nullptr);
  commands.begin(std::nullopt);
  EXPECT_EQ(woken, 3);
}

TEST_F(PeerCommandsTest, ThreadWaitsWhileTooMuchIsUnread) {
  const std::uint64_t number = begun(7);
  commands.hand_out(10);
  std::thread reader([&] { commands.let_go(1); });
  EXPECT_TRUE(commands.work(number)) << "there was room in the end";
  reader.join();
}

TEST_F(PeerCommandsTest, ThreadIsNotifiedOfTheEnd) {
  const std::uint64_t number = begun(7);
  commands.hand_out(10);
  std::thread ender([&] { commands.end(); });
  EXPECT_FALSE(commands.work(number));
  EXPECT_FALSE(commands.next_epoch(number));
  ender.join();
}

}  // namespace
}  // namespace tributary
