// Tests of the prediction whether uplinks can meet a deadline, and of the deadline that is
// suggested instead. Pure functions of rates, bytes and times.
#include "core/round/coordinator/attempt/deadline_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tributary {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kMbit = 1e6 / 8;
constexpr std::uint64_t kDeadlineValues = 1'050'000;  // 4.2 MB as float32

DeadlineInput::Agent sending(std::string_view id, double mbit_per_s, double received = 0) {
  return {.agent_id = id,
          .uplink_bytes_per_s = mbit_per_s * kMbit,
          .update_bytes = 4.2e6,
          .received_bytes = received};
}

DeadlineInput input_of(std::vector<DeadlineInput::Agent> agents, std::uint32_t quorum) {
  return {.agents = std::move(agents),
          .quorum = quorum,
          .elapsed_s = 0,
          .deadline_s = 60,
          .job_deadline_s = 60,
          .values = kDeadlineValues};
}

TEST(DeadlineCheck, NamesTheSlowUplinkAndASufficientDeadline) {
  const auto verdict =
      check_deadline(input_of({sending("agent-0", 100), sending("agent-1", 0.25)}, 2));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->link, SlowLink::uplink);
  ASSERT_EQ(verdict->agents.size(), 1u);
  EXPECT_NEAR(verdict->needed_s, 134.4, 1e-6);
  EXPECT_EQ(verdict->deadline_ms_fit, 202'000u);
  EXPECT_NEAR(verdict->bits_per_value_fit, 14.2857, 1e-3);
  EXPECT_EQ(verdict->text(3),
            "Round 3 cannot collect its updates within its deadline of 60 s: the uplink of agent-1 "
            "carries 0.25 "
            "Mbit/s and its update of 4.2 MB takes 134 s. Submit the job again with deadline_ms = "
            "202000 or more, or with a codec of at most 14 bits per value.");
}

TEST(DeadlineCheck, IsSilentWhileTheQuorumCanBeReached) {
  EXPECT_FALSE(check_deadline(input_of({sending("a", 100), sending("b", 0.25)}, 1)));
  EXPECT_FALSE(check_deadline(input_of({sending("a", 100), sending("b", 1)}, 2)));
  EXPECT_TRUE(check_deadline(input_of({sending("a", 100), sending("b", 0.25)}, 2)));
}

TEST(DeadlineCheck, ALinkThatIsNotMeasuredIsFastEnough) {
  EXPECT_FALSE(check_deadline(input_of({sending("a", 0), sending("b", 100)}, 2)));
  EXPECT_FALSE(check_deadline(input_of({{.agent_id = "a"}, {.agent_id = "b"}}, 2)));
}

TEST(DeadlineCheck, TooFewAgentsAreNotTheLinksFault) {
  EXPECT_FALSE(check_deadline(input_of({sending("a", 0.25)}, 2)));
  EXPECT_FALSE(check_deadline(input_of({}, 1)));
}

TEST(DeadlineCheck, BytesThatHaveArrivedNeedNotArriveAgain) {
  DeadlineInput input = input_of({sending("a", 0.25, 3e6)}, 1);
  input.elapsed_s = 20;  // 1.2 MB remain: 38.4 s
  EXPECT_FALSE(check_deadline(input));
  input.elapsed_s = 22;
  ASSERT_TRUE(check_deadline(input));
  input.agents[0].received_bytes = 4.2e6;
  EXPECT_FALSE(check_deadline(input));
}

TEST(DeadlineCheck, TimeBeforeTheUploadCountsForTheDeadlineAndForTheBits) {
  DeadlineInput input = input_of({sending("a", 1, 0)}, 1);  // 33.6 s
  input.elapsed_s = 30;                                     // of training
  const auto verdict = check_deadline(input);
  ASSERT_TRUE(verdict);
  EXPECT_NEAR(verdict->needed_s, 63.6, 1e-6);
  EXPECT_NEAR(verdict->bits_per_value_fit, 30 * kMbit * 8 / kDeadlineValues, 1e-3);
}

// Three of five agents are enough: the third fastest determines what would fit.
TEST(DeadlineCheck, TheLastAgentOfTheQuorumSetsTheDeadline) {
  const auto verdict =
      check_deadline(input_of({sending("a", 0.2), sending("b", 100), sending("c", 0.4),
                               sending("d", 100), sending("e", 0.1)},
                              3));
  ASSERT_TRUE(verdict);
  EXPECT_NEAR(verdict->needed_s, 84, 1e-6);
  ASSERT_EQ(verdict->agents.size(), 3u);
  EXPECT_EQ(verdict->agents[0].agent_id, "e") << "the slowest first";
  EXPECT_EQ(verdict->agents[2].agent_id, "c");
  EXPECT_NEAR(verdict->bits_per_value_fit, 60 * 0.4 * kMbit * 8 / kDeadlineValues, 1e-3);
}

TEST(DeadlineCheck, NamesThreeAgentsAndCountsTheOthers) {
  const std::string text =
      check_deadline(input_of({sending("a", 0.1), sending("b", 0.1), sending("c", 0.1),
                               sending("d", 0.1), sending("e", 0.1)},
                              5))
          ->text(1);
  EXPECT_THAT(text, HasSubstr("of c carries"));
  EXPECT_THAT(text, Not(HasSubstr("of d carries")));
  EXPECT_THAT(text, HasSubstr("2 more agents"));
}

TEST(DeadlineCheck, AnAttemptWithHalfOfTheJobsDeadlineNeedsTwiceAsMuchOfTheJob) {
  DeadlineInput input = input_of({sending("a", 0.25)}, 1);
  input.deadline_s = 30;
  EXPECT_EQ(check_deadline(input)->deadline_ms_fit, 404'000u);  // 2 × 1.5 × 134.4 s
}

TEST(DeadlineCheck, TheRestOfADownloadCountsBeforeTheUpload) {
  DeadlineInput input =
      input_of({{.agent_id = "a", .downlink_bytes_per_s = 0.25 * kMbit, .down_bytes = 4.2e6}}, 1);
  input.elapsed_s = 2;
  const auto verdict = check_deadline(input);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->link, SlowLink::downlink);
  EXPECT_NEAR(verdict->needed_s, 136.4, 1e-6);
  EXPECT_EQ(verdict->text(2),
            "Round 2 cannot collect its updates within its deadline of 60 s: the downlink of a "
            "carries 0.25 Mbit/s "
            "and the 4.2 MB that it lacks take 134 s. Submit the job again with deadline_ms = "
            "205000 or more, or with a codec of fewer bits per value.");
}

TEST(DeadlineCheck, ADeadlineThatNoJobMayHaveIsNotOffered) {
  const std::string text = check_deadline(input_of({sending("a", 0.0005)}, 1))->text(1);
  EXPECT_THAT(text, Not(HasSubstr("deadline_ms")));
  EXPECT_THAT(text, HasSubstr("at most 0.02 bits per value"));
}

}  // namespace
}  // namespace tributary
