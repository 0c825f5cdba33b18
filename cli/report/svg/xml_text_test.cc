// Tests of texts and numbers in XML.
#include "cli/report/svg/xml_text.h"

#include <gtest/gtest.h>

namespace tributary::report {
namespace {

TEST(Escaped, NothingBecomesMarkup) {
  EXPECT_EQ(escaped("<b a=\"1\" c='2'>&amp;"), "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;");
  EXPECT_EQ(escaped("β → 1/β µs 𝄞"), "β → 1/β µs 𝄞");
}

TEST(Escaped, CharactersThatXmlForbidsAreReplaced) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b"
                                     "c\x7f",
                                     6)),
            "a\ufffdb\ufffdc\x7f");
  EXPECT_EQ(escaped("\xff\xc3("), "\ufffd\ufffd(");
  EXPECT_EQ(escaped("cut \xe2\x82"), "cut \ufffd\ufffd");
  EXPECT_EQ(escaped("\xc0\xaf"), "\ufffd\ufffd") << "overlong";
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\ufffd\ufffd\ufffd") << "half of a pair";
}

TEST(Shortened, CountsCharactersAndCutsNone) {
  EXPECT_EQ(shortened("ββββ", 4), "ββββ");
  EXPECT_EQ(shortened("βββββ", 4), "βββ…");
  EXPECT_EQ(shortened("abc", 1), "…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Coordinate, IsShort) {
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(12.3456), "12.35");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(100), "100");
}

}  // namespace
}  // namespace tributary::report
