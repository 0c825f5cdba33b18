// Tests of the bounded queue of messages to peers.
#include "core/service/peers/unsent_messages.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

SendToPeer unsent_message(std::uint32_t member, std::size_t frame_bytes,
                          std::size_t payload_bytes = 0) {
  return {
      .member = member, .frame = Bytes(frame_bytes), .payload = SharedSlice(Bytes(payload_bytes))};
}

TEST(UnsentMessages, AreTakenOnceAndInOrder) {
  UnsentMessages unsent(100);
  EXPECT_TRUE(unsent.empty());
  EXPECT_TRUE(unsent.push(unsent_message(2, 10)));
  EXPECT_TRUE(unsent.push(unsent_message(1, 10)));
  EXPECT_FALSE(unsent.empty());
  const std::vector<SendToPeer> taken = unsent.take();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].member, 2u);
  EXPECT_EQ(taken[1].member, 1u);
  EXPECT_TRUE(unsent.empty());
  EXPECT_TRUE(unsent.take().empty());
}

TEST(UnsentMessages, TheBoundCountsFrameAndPayload) {
  UnsentMessages unsent(100);
  EXPECT_TRUE(unsent.push(unsent_message(1, 40, 60)));
  EXPECT_FALSE(unsent.push(unsent_message(2, 1)));
  EXPECT_EQ(unsent.overrun_by(), 2u);
  EXPECT_EQ(unsent.take().size(), 1u);
}

TEST(UnsentMessages, TakenMessagesNoLongerCount) {
  UnsentMessages unsent(100);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(unsent.push(unsent_message(1, 100)));
    EXPECT_EQ(unsent.take().size(), 1u);
  }
  EXPECT_FALSE(unsent.overrun_by());
}

TEST(UnsentMessages, NothingIsKeptBehindAGapUntilCleared) {
  UnsentMessages unsent(100);
  EXPECT_FALSE(unsent.push(unsent_message(7, 101)));
  EXPECT_FALSE(unsent.push(unsent_message(1, 1)));
  EXPECT_EQ(unsent.overrun_by(), 7u) << "the first one";
  unsent.take();
  EXPECT_FALSE(unsent.push(unsent_message(1, 1)));
  unsent.clear();
  EXPECT_FALSE(unsent.overrun_by());
  EXPECT_TRUE(unsent.push(unsent_message(1, 1)));
}

}  // namespace
}  // namespace tributary
