// Tests of command lines for ranks that mpirun starts.
#include "edge_agent/rank_words.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

using Words = std::vector<std::string>;

TEST(RankWords, EachPlaceBecomesTheRank) {
  const Words words = {"agent", "--config", "agent-%r.toml", "%r%r", "100%", "% r", "%", ""};
  EXPECT_EQ(with_rank(words, 12),
            (Words{"agent", "--config", "agent-12.toml", "1212", "100%", "% r", "%", ""}));
}

TEST(RankWords, FindsTheOptionsThatNeedNoRank) {
  EXPECT_TRUE(asks_for_answer({"agent", "--check", "--help"}));
  EXPECT_TRUE(asks_for_answer({"agent", "-h"}));
  EXPECT_TRUE(asks_for_answer({"agent", "--version"}));
  EXPECT_FALSE(asks_for_answer({"agent", "--config", "help", "-help"}));
  EXPECT_FALSE(asks_for_answer({}));
}

TEST(RankWords, TheRankIsThatOfMpirun) {
  const auto rank = [](const char* value) {
    return rank_from_mpirun([value](const char* name) {
      return std::string_view(name) == "OMPI_COMM_WORLD_RANK" ? value : "wrong";
    });
  };
  EXPECT_EQ(*rank("0"), 0u);
  EXPECT_EQ(*rank("31"), 31u);
  for (const char* const bad : {"", "-1", "3 ", "x", "99999999999"}) {
    EXPECT_EQ(rank(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
  const Status without = rank(nullptr).status();
  EXPECT_EQ(without.code(), StatusCode::invalid_argument);
  EXPECT_NE(without.text().find("mpirun"), std::string::npos) << without.text();
}

}  // namespace
}  // namespace tributary
