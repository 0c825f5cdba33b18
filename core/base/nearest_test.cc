// Tests of suggestions for mistyped words.
#include "core/base/nearest.h"

#include <gtest/gtest.h>

#include <array>

namespace tributary {
namespace {

constexpr std::array<std::string_view, 6> kKnown = {"bits", "block",  "granularity",
                                                    "p",    "levels", "error-feedback"};

TEST(Nearest, FindsTheIntendedWord) {
  EXPECT_EQ(nearest_name("blok", kKnown), "block");
  EXPECT_EQ(nearest_name("blcok", kKnown), "block");
  EXPECT_EQ(nearest_name("bit", kKnown), "bits");
  EXPECT_EQ(nearest_name("granularty", kKnown), "granularity");
  EXPECT_EQ(nearest_name("garnulraity", kKnown), "granularity");
  EXPECT_EQ(nearest_name("levles", kKnown), "levels");
}

TEST(Nearest, TakesCaseAndDashesForNothing) {
  EXPECT_EQ(nearest_name("P", kKnown), "p");
  EXPECT_EQ(nearest_name("BLOCK", kKnown), "block");
  EXPECT_EQ(nearest_name("error_feedback", kKnown), "error-feedback");
}

TEST(Nearest, FindsNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("x", kKnown), "");
  EXPECT_EQ(nearest_name("momentum", kKnown), "");
  EXPECT_EQ(nearest_name("", kKnown), "");
  EXPECT_EQ(nearest_name("block", {}), "");
  // Hostile text must not cost quadratic time.
  EXPECT_EQ(nearest_name(std::string(1'000'000, 'b'), kKnown), "");
}

TEST(Nearest, PrefersTheNearerThenTheFirst) {
  constexpr std::array<std::string_view, 3> known = {"aaaaaa", "aaaabb", "aaaabc"};
  EXPECT_EQ(nearest_name("aaaabc", known), "aaaabc");
  EXPECT_EQ(nearest_name("aaaaba", known), "aaaaaa");
}

TEST(DidYouMean, NamesTheNearestOrListsAll) {
  EXPECT_EQ(did_you_mean("blok", kKnown), "did you mean 'block'?");
  EXPECT_EQ(did_you_mean("zzz", kKnown),
            "known: bits, block, granularity, p, levels, error-feedback");
  EXPECT_EQ(did_you_mean("zzz", {}), "there are no names to choose from");
}

}  // namespace
}  // namespace tributary
