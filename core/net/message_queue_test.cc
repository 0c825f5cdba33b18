#include "core/net/message_queue.h"

#include <gtest/gtest.h>

#include <memory>

namespace tributary {
namespace {

using Message = std::unique_ptr<int>;

TEST(MessageQueue, CountsWhatIsLeftOfItsMessages) {
  MessageQueue<Message> queue;
  queue.push(std::make_unique<int>(1), 10);
  queue.push(std::make_unique<int>(2), 5);
  EXPECT_EQ(queue.bytes(), 15u);
  queue.sent(4);
  EXPECT_EQ(queue.front_bytes(), 6u);
  EXPECT_EQ(queue.bytes(), 11u);
  EXPECT_EQ(*queue.pop(), 1);
  EXPECT_EQ(queue.bytes(), 5u);
  queue.push(std::make_unique<int>(3), 7);
  queue.drop_last();
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.clear(), 5u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST(MessageQueue, LeavesMessagesWhereTheyAre) {
  MessageQueue<int> queue;
  const int* const first = &queue.push(1, 1);
  for (int i = 0; i < 1000; ++i) queue.push(i, 1);
  EXPECT_EQ(&queue.front(), first);
  const MessageQueue<int> moved = std::move(queue);
  EXPECT_EQ(&moved.front(), first) << "also when the queue moves";
}

}  // namespace
}  // namespace tributary
