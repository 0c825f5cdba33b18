// Tests of the moments at which a running attempt is checked against its deadline, and of the
// reports about slow uplinks.
#include "core/round/coordinator/attempt/deadline_watch.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/round/coordinator/attempt/active_round_testing.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary {
namespace {

using round_testing::begin_round;
using round_testing::JobTest;

constexpr TimeNs kWatchSecond = 1'000 * kNsPerMs;
constexpr std::uint64_t kWatchedPart = 1'000;
constexpr TimeNs kWatchedGap = 600 * kNsPerMs;

// An attempt with a deadline of 10 s that needs the updates of all members.
class DeadlineWatchTest : public JobTest {
 protected:
  void begin(std::uint32_t agents) {
    policy().deadline_ms = 10'000;
    policy().quorum_fraction = 1;
    open_epoch(agents);
    round_ = begin_round(membership_, coordinator_.now, make_plan(1));
    round_->deadline_ns = coordinator_.now + policy().deadline_ms * kNsPerMs;
    watch_ = std::make_unique<DeadlineWatch>(job_, membership_, *round_);
  }
  // A part of a payload of this size arrives.
  void part_arrives(std::uint64_t payload_bytes) {
    coordinator_.now += kWatchedGap;
    round_->count_part(
        round_->members()[0],
        {.bucket = 0, .offset = arrived_, .bytes = kWatchedPart, .stage_bytes = payload_bytes},
        coordinator_.now, 0);
    round_->members()[0].upload.received_bytes += kWatchedPart;
    arrived_ += kWatchedPart;
    watch_->part_arrived();
  }
  // As many parts arrive as the measurement of the uplink needs.
  void parts_arrive(std::uint64_t payload_bytes) {
    for (int i = 0; i < 7; ++i) part_arrives(payload_bytes);
  }

  std::unique_ptr<ActiveRound> round_;
  std::unique_ptr<DeadlineWatch> watch_;
  std::uint64_t arrived_ = 0;
};

TEST_F(DeadlineWatchTest, ACheckIsDueASecondAfterTheFirstPartThatWasNotChecked) {
  begin(1);
  EXPECT_EQ(watch_->next_due_ns(), kNever);
  part_arrives(1'000'000);
  const TimeNs due = coordinator_.now + kWatchSecond;
  part_arrives(1'000'000);
  EXPECT_EQ(watch_->next_due_ns(), due);
  coordinator_.now = due;
  watch_->check();
  EXPECT_EQ(watch_->next_due_ns(), kNever) << "until another part comes";
  part_arrives(1'000'000);
  EXPECT_EQ(watch_->next_due_ns(), coordinator_.now + kWatchSecond);
}

TEST_F(DeadlineWatchTest, AnUplinkThatIsTooSlowIsReportedOnce) {
  begin(1);
  parts_arrive(1'000'000);  // takes 600 s
  watch_->check();
  ASSERT_TRUE(watch_->verdict());
  EXPECT_EQ(watch_->verdict()->link, SlowLink::uplink);
  EXPECT_EQ(watch_->verdict()->agents[0].agent_id, "agent-000");
  EXPECT_NEAR(watch_->verdict()->agents[0].takes_s, 600, 1);
  parts_arrive(1'000'000);
  EXPECT_EQ(watch_->next_due_ns(), kNever);
  watch_->check();
  EXPECT_EQ(noted("deadline_too_short"), std::vector<std::string>{"uplink"});
}

TEST_F(DeadlineWatchTest, NothingIsCheckedBeforeItIsDue) {
  begin(1);
  parts_arrive(1'000'000);
  coordinator_.now = watch_->next_due_ns() - 1;
  watch_->check();
  EXPECT_FALSE(watch_->verdict());
}

TEST_F(DeadlineWatchTest, AnUplinkThatIsFastEnoughIsNotReported) {
  begin(1);
  parts_arrive(10'000);  // takes 6 s
  watch_->check();
  EXPECT_FALSE(watch_->verdict());
  EXPECT_TRUE(noted("deadline_too_short").empty());
}

TEST_F(DeadlineWatchTest, AMemberThatHasWithdrawnIsNotWaitedFor) {
  begin(2);
  parts_arrive(1'000'000);
  round_->members()[0].withdrawn = true;
  watch_->check();
  EXPECT_FALSE(watch_->verdict());
}

TEST_F(DeadlineWatchTest, AnAttemptWithoutTrafficIsNotChecked) {
  begin(2);
  watch_->start();
  EXPECT_EQ(watch_->next_due_ns(), kNever);
}

TEST_F(DeadlineWatchTest, AMemberThatIsStillBeingSentItsModelIsWatched) {
  begin(2);
  const auto model = std::make_shared<const Bytes>(100'000);
  member(1).conversation.stream(coordinator_.now,
                                {.id = {.transfer = 1},
                                 .bytes = model->size(),
                                 .slice = slices_of(model),
                                 .frame = [](auto, const auto&) { return wire::FrameT(); }},
                                0, coordinator_.out);
  watch_->start();
  EXPECT_EQ(watch_->next_due_ns(), coordinator_.now + kWatchSecond);
  coordinator_.now += kWatchSecond;
  watch_->check();
  EXPECT_EQ(watch_->next_due_ns(), coordinator_.now + kWatchSecond) << "it goes on";
  round_->members()[1].part_arrived = true;
  coordinator_.now += kWatchSecond;
  watch_->check();
  EXPECT_EQ(watch_->next_due_ns(), kNever) << "the agent has begun";
}

TEST_F(DeadlineWatchTest, ByPeersNothingIsChecked) {
  policy().collective = wire::Collective::ring;
  begin(2);
  parts_arrive(1'000'000);
  EXPECT_EQ(watch_->next_due_ns(), kNever);
}

}  // namespace
}  // namespace tributary
