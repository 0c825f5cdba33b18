#include "core/base/blanks.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(Blanks, AreCutOffAtBothEnds) {
  EXPECT_EQ(without_blanks(""), "");
  EXPECT_EQ(without_blanks(" \t "), "");
  EXPECT_EQ(without_blanks("word"), "word");
  EXPECT_EQ(without_blanks("\t two words  "), "two words");
  EXPECT_EQ(without_blanks(" line\r"), "line");
  EXPECT_EQ(without_blanks(" line\r", " "), "line\r");
}

}  // namespace
}  // namespace tributary
