// Tests of answers that wait because the queue of their connection is full. A link of the test
// decides when there is space.
#include "core/watch/unsent_answers.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// A link whose queues have room if the test says so.
class NarrowLink final : public Transport {
 public:
  bool has_space = true;
  std::vector<std::pair<ConnectionId, std::size_t>> sent;

  Status send(ConnectionId to, SharedSlice frame, SharedSlice) override {
    if (to == kGone) return Status(StatusCode::unavailable, {.what = "connection"});
    if (!has_space) return Status(StatusCode::resource_exhausted, {.what = "queue"});
    sent.emplace_back(to, frame.size());
    return {};
  }
  Result<std::optional<LinkEvent>> receive(std::chrono::nanoseconds) override {
    return std::optional<LinkEvent>();
  }
  void wake() override {}
  bool encrypted() const override { return false; }
  const LinkLimits& limits() const override { return limits_; }
  LinkCounters counters() const override { return {}; }
  std::size_t waiting_bytes() const override { return 0; }

  static constexpr ConnectionId kGone = 99;

 private:
  LinkLimits limits_;
};

SharedSlice answer(std::size_t bytes) { return SharedSlice(Bytes(bytes)); }

// Bytes count when they are sent, not when they begin to wait.
TEST(UnsentAnswers, AnAnswerForAFullQueueWaits) {
  NarrowLink link;
  UnsentAnswers unsent(link);
  link.has_space = false;
  unsent.send(1, answer(10));
  EXPECT_TRUE(unsent.waits(1));
  EXPECT_FALSE(unsent.waits(2));
  unsent.send_again();
  EXPECT_TRUE(unsent.waits(1));
  EXPECT_EQ(unsent.bytes_sent(), 0u);
  link.has_space = true;
  unsent.send_again();
  EXPECT_TRUE(unsent.empty());
  EXPECT_EQ(unsent.bytes_sent(), 10u);
  unsent.send(1, answer(5));
  EXPECT_EQ(unsent.bytes_sent(), 15u);
}

// An observer that does not read must cost the coordinator one answer of memory at most.
TEST(UnsentAnswers, OneOfAConnectionWaitsAndNoMore) {
  NarrowLink link;
  UnsentAnswers unsent(link);
  link.has_space = false;
  unsent.send(1, answer(10));
  unsent.send(1, answer(20));
  link.has_space = true;
  unsent.send_again();
  ASSERT_EQ(link.sent.size(), 1u);
  EXPECT_EQ(link.sent[0].second, 10u) << "the first";
}

// Neither after a failed send nor after the session has ended.
TEST(UnsentAnswers, NothingWaitsForAClosedConnection) {
  NarrowLink link;
  UnsentAnswers unsent(link);
  unsent.send(NarrowLink::kGone, answer(10));
  EXPECT_TRUE(unsent.empty());
  link.has_space = false;
  unsent.send(1, answer(10));
  unsent.forget(1);
  EXPECT_TRUE(unsent.empty());
}

}  // namespace
}  // namespace tributary
