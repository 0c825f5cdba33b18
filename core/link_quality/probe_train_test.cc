// Tests of evaluating a train of messages: only the bytes after a part that the receiver was
// waiting for count.
#include "core/link_quality/probe_train.h"

#include <gtest/gtest.h>

#include <vector>

namespace tributary {
namespace {

// Parts of 1000 bytes; times in microseconds, 0 if the receiver was not waiting.
std::optional<LinkTransfer> of(const std::vector<std::uint64_t>& at_us) {
  std::vector<ProbePart> parts;
  for (const std::uint64_t at : at_us) parts.push_back({.bytes = 1000, .at_ns = at * 1000});
  return transfer_of(parts);
}

// When the first part began is unknown, so its bytes do not count.
TEST(ProbeTrain, CountsTheBytesAfterTheFirstPart) {
  const auto transfer = of({100, 200, 300, 400});
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer->kind, TransferKind::train);
  EXPECT_EQ(transfer->bytes, 3000);
  EXPECT_DOUBLE_EQ(transfer->seconds, 300e-6);
}

TEST(ProbeTrain, BeginsWhereTheReceiverHadCaughtUp) {
  // The first three were found in a queue at 350; the fourth is the first one on time.
  const auto transfer = of({0, 0, 0, 400, 500, 600, 700, 800});
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer->bytes, 4000);
  EXPECT_DOUBLE_EQ(transfer->seconds, 400e-6);
}

TEST(ProbeTrain, ADelayedFirstPartIsNotTrusted) {
  // Woken at 350 by the first part, with three more behind it. Counted from there, 4000 bytes would
  // take 450 us.
  const auto transfer = of({350, 0, 0, 400, 500, 600, 700, 800});
  ASSERT_TRUE(transfer);
  EXPECT_DOUBLE_EQ(transfer->seconds / transfer->bytes, 100e-9);
}

// Parts found in the queue have no arrival time of their own.
TEST(ProbeTrain, EndsWithThePartThatWasWaitedFor) {
  const auto transfer = of({100, 200, 300, 400, 500, 600, 0, 0});
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer->bytes, 5000);
  EXPECT_DOUBLE_EQ(transfer->seconds, 500e-6);
}

// A wrong rate is worse than none. Fewer than half of the parts on time are not trusted.
TEST(ProbeTrain, TooFewPartsMeasureNothing) {
  EXPECT_FALSE(of({}));
  EXPECT_FALSE(of({100}));
  EXPECT_FALSE(of({100, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(of({0, 0, 0, 0, 0, 0, 700, 800})) << "one of seven";
  EXPECT_FALSE(of({100, 0, 300, 0, 500, 0, 700, 0})) << "never caught up";
  EXPECT_FALSE(of({0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(of({400, 300, 200, 100})) << "a clock that went back";
  EXPECT_FALSE(of({400, 400}));
}

}  // namespace
}  // namespace tributary
