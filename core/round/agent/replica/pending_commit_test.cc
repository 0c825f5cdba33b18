// Tests of a commit that waits for its aggregates: it belongs to one attempt and is overdue after a
// silence.
#include "core/round/agent/replica/pending_commit.h"

#include "core/round/agent/replica/agent_parts_testing.h"

namespace tributary {
namespace {

using round_testing::kAckNs;
using round_testing::Packed;

constexpr RoundKey kKey = {.job = 1, .round = 2, .epoch = 3, .attempt = 0};

void hold(PendingCommit& pending, TimeNs now) {
  wire::CommitT commit;
  commit.id = std::make_unique<wire::RoundId>(wire_id(kKey));
  pending.hold(now, *Packed(commit));
}

TEST(PendingCommit, IsOfOneAttempt) {
  PendingCommit pending;
  EXPECT_EQ(pending.of(kKey), nullptr);
  hold(pending, 0);
  EXPECT_NE(pending.of(kKey), nullptr);
  RoundKey other = kKey;
  other.attempt = 1;
  EXPECT_EQ(pending.of(other), nullptr);
  pending.clear();
  EXPECT_EQ(pending.get(), nullptr);
}

TEST(PendingCommit, IsOverdueAfterSilence) {
  PendingCommit pending;
  EXPECT_EQ(pending.overdue_at_ns(kAckNs), kNever);
  hold(pending, 10);
  const TimeNs wait = pending.overdue_at_ns(kAckNs) - 10;
  EXPECT_GT(wait, 0);
  hold(pending, 20);
  EXPECT_EQ(pending.overdue_at_ns(kAckNs), 10 + wait) << "a repeat is nothing new";
  pending.wait_again(30);
  EXPECT_EQ(pending.overdue_at_ns(kAckNs), 30 + wait);
}

}  // namespace
}  // namespace tributary
