// Tests of the planner's choices as bands, decisions and shares of rounds.
#include "dashboard/pages/plan/choices.h"

#include <gmock/gmock.h>

namespace tributary::dashboard {
namespace {

using testing::ElementsAre;

// A run of eight rounds with four decisions, one of which keeps the choice.
class ChoicesTest : public testing::Test {
 protected:
  // Every round takes one second.
  void round(std::uint64_t number) {
    const auto at = static_cast<double>(number);
    table_.add(NewRound{.job = 1, .round = number, .began_s = at - 1, .ended_s = at});
  }
  void planned(std::uint64_t number, const std::string& codec, double ratio,
               const std::string& collective, const std::string& trigger = "unchanged") {
    round(number);
    table_.add(NewPlan{.job = 1,
                       .round = number,
                       .codecs = codec,
                       .collectives = collective,
                       .trigger = trigger,
                       .ratio = ratio,
                       .predicted_s = 1});
  }
  void a_run() {
    planned(1, "fp32", 1, "star");
    planned(2, "fp32", 1, "star");
    planned(3, "topk", 0.01, "star", "first_round");
    planned(4, "topk", 0.01, "star");
    planned(5, "topk", 0.01, "star", "gain_changed");  // the choice stays the same
    planned(6, "topk", 0.05, "star", "link_changed");
    round(7);  // a round without a readable plan
    planned(8, "topk", 0.05, "ring", "link_changed");
  }

  RoundTable table_{1000};
};

// Each stretch as "label from-to".
std::vector<std::string> labels(const Band& band) {
  std::vector<std::string> out;
  for (const Stretch& one : band.stretches) {
    out.push_back(QString("%1 %2-%3").arg(one.label).arg(one.x_low).arg(one.x_high).toStdString());
  }
  return out;
}

// A change lies halfway between two rounds. Round 7 has no readable plan, so the bands have a gap.
TEST_F(ChoicesTest, BandsAreThePlansOverRounds) {
  a_run();
  const std::vector<Band> bands = choice_bands(table_, choices_of(table_), false);
  ASSERT_EQ(bands.size(), 3u);
  EXPECT_THAT(labels(bands[0]), ElementsAre("fp32 1-2.5", "topk 2.5-6.5", "topk 7.5-8"));
  EXPECT_THAT(labels(bands[1]),
              ElementsAre("1 1-2.5", "0.01 2.5-5.5", "0.05 5.5-6.5", "0.05 7.5-8"));
  EXPECT_THAT(labels(bands[2]), ElementsAre("star 1-6.5", "ring 7.5-8"));
}

// Over time a round has a duration, so no half rounds are needed.
TEST_F(ChoicesTest, BandsOverTimeGoFromTheFirstRoundsBeginToTheLastOnesEnd) {
  a_run();
  const std::vector<Band> bands = choice_bands(table_, choices_of(table_), true);
  EXPECT_THAT(labels(bands[2]), ElementsAre("star 0-6", "ring 7-8"));
}

// The journal of an aborted job may have rounds and no plan.
TEST_F(ChoicesTest, WithoutPlansThereIsNothing) {
  round(1);
  const std::vector<Choice> choices = choices_of(table_);
  EXPECT_TRUE(choices.empty());
  for (const Band& band : choice_bands(table_, choices, false)) EXPECT_TRUE(band.stretches.empty());
  EXPECT_TRUE(decisions_of(table_, choices, 10).empty());
  EXPECT_TRUE(shares_of_ratios(choices).empty());
  EXPECT_TRUE(shares_of_names(choices, &Choice::codec, table_.names.codecs).empty());
}

// Round 5 decided to stay, which is listed; rounds that only continue are not.
TEST_F(ChoicesTest, ListsDecisions) {
  a_run();
  std::vector<std::string> lines;
  for (const Decision& one : decisions_of(table_, choices_of(table_), 10)) {
    lines.push_back(std::to_string(one.round) + ": " + one.from + " > " + one.to + ", " +
                    one.trigger + (one.switched ? "" : ", stays"));
  }
  EXPECT_THAT(lines,
              ElementsAre("1:  > fp32 by star, unchanged, stays",
                          "3: fp32 by star > topk at 0.01 by star, first round",
                          "5: topk at 0.01 by star > topk at 0.01 by star, gain changed, stays",
                          "6: topk at 0.01 by star > topk at 0.05 by star, link changed",
                          "8: topk at 0.05 by star > topk at 0.05 by ring, link changed"));
}

// A long run has thousands of decisions, and the table shows the newest.
TEST_F(ChoicesTest, KeepsTheNewestDecisions) {
  a_run();
  const std::vector<Decision> newest = decisions_of(table_, choices_of(table_), 2);
  ASSERT_EQ(newest.size(), 2u);
  EXPECT_EQ(newest[0].round, 6u);
  EXPECT_EQ(newest[1].round, 8u);
}

// The choice before and after it is the same.
TEST_F(ChoicesTest, ARoundWithoutAPlanIsNoSwitch) {
  planned(1, "thc", 1, "star");
  round(2);
  planned(3, "thc", 1, "star");
  EXPECT_EQ(choices_of(table_).size(), 2u);
  EXPECT_EQ(decisions_of(table_, choices_of(table_), 10).size(), 1u);
}

// A round that continues leads to the round whose plan has the reason.
TEST_F(ChoicesTest, FindsWhereARoundWasDecided) {
  a_run();
  const auto decided = [this](std::uint64_t round) {
    return table_.columns.round[decided_in(table_, *table_.row_of(round))];
  };
  EXPECT_EQ(decided(2), 1u);
  EXPECT_EQ(decided(4), 3u);
  EXPECT_EQ(decided(5), 5u);
  EXPECT_EQ(decided(7), 7u);
  EXPECT_EQ(decided(8), 8u);
}

// Five of the seven rounds with a plan used topk. Parameters of a codec do not make it another one.
TEST_F(ChoicesTest, CountsHowOftenEachWasUsed) {
  a_run();
  const std::vector<Choice> choices = choices_of(table_);
  const auto codecs = shares_of_names(choices, &Choice::codec, table_.names.codecs);
  ASSERT_EQ(codecs.size(), 2u);
  EXPECT_EQ(codecs[0].name, "topk");
  EXPECT_EQ(codecs[0].rounds, 5u);
  EXPECT_NEAR(codecs[0].share + codecs[1].share, 1, 1e-12);
  planned(9, "topk:cr=0.03", 0.03, "ring");
  const auto merged = shares_of_names(choices_of(table_), &Choice::codec, table_.names.codecs);
  ASSERT_EQ(merged.size(), 2u) << "what is set of a codec makes it no other";
  EXPECT_EQ(merged[0].rounds, 6u);
  const std::vector<GanttRow> rows = share_rows(codecs);
  EXPECT_EQ(rows[0].name, "topk  71.4 %");
  EXPECT_NEAR(rows[0].spans[0].x_high, 5.0 / 7, 1e-12);
}

// Bars are logarithmic classes, and their shares add up to 1.
TEST_F(ChoicesTest, EveryRatioLiesInItsBar) {
  a_run();
  double sum = 0;
  for (const Bar& bar : shares_of_ratios(choices_of(table_))) {
    sum += bar.y;
    EXPECT_LE(bar.x_high, 1 + 1e-12);
    if (bar.y > 0.4) {  // ratio 0.01 in three of seven rounds
      EXPECT_LT(bar.x_low, 0.01);
      EXPECT_GE(bar.x_high, 0.01 - 1e-12);
    }
  }
  EXPECT_NEAR(sum, 1, 1e-12);
}

// Classes are half decades, so that a small change of the ratio keeps the colour.
TEST(RatioTest, HasAClassForItsColour) {
  EXPECT_EQ(ratio_class(1), "ratio 1");
  EXPECT_EQ(ratio_class(0.05), "ratio 0.03 to 0.1");
  EXPECT_EQ(ratio_class(0.0155), "ratio 0.01 to 0.03");
  EXPECT_EQ(ratio_class(0), "ratio 0");
}

// Rounds 4 to 6 are missing, so position 5.5 belongs to round 7.
TEST_F(ChoicesTest, APlaceOnTheAxisIsTheRoundNextToIt) {
  EXPECT_FALSE(round_next_to(table_, false, 3));
  for (const std::uint64_t number : {2u, 3u, 7u}) round(number);
  EXPECT_EQ(round_next_to(table_, false, -10), 2u);
  EXPECT_EQ(round_next_to(table_, false, 2.4), 2u);
  EXPECT_EQ(round_next_to(table_, false, 2.6), 3u);
  EXPECT_EQ(round_next_to(table_, false, 5.5), 7u);
  EXPECT_EQ(round_next_to(table_, false, 100), 7u);
  EXPECT_EQ(round_next_to(table_, true, 1.5), 2u);
  EXPECT_EQ(round_next_to(table_, true, 100), 7u);
}

}  // namespace
}  // namespace tributary::dashboard
