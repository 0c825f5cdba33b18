// Tests of numbers, tables and texts for people.
#include "cli/text.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(Text, Counts) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(16'777'216), "16,777,216");
}

TEST(Text, Rates) {
  EXPECT_EQ(rate_text(0), "0 B/s");
  EXPECT_EQ(rate_text(999), "999 B/s");
  EXPECT_EQ(rate_text(12.34e9), "12.3 GB/s");
  EXPECT_EQ(rate_text(5e15), "5e+03 TB/s");
}

TEST(Text, RatiosTimesAndErrors) {
  EXPECT_EQ(ratio_text(3.984), "3.98:1");
  EXPECT_EQ(seconds_text(0.0312), "31.2 ms");
  EXPECT_EQ(seconds_text(1.5), "1.50 s");
  EXPECT_EQ(error_text(0), "0");
  EXPECT_EQ(error_text(1.234e-5), "1.23e-05");
}

TEST(Table, AlignsNamesLeftAndNumbersRight) {
  Table table({"codec", "ratio"});
  table.add({"fp32", "1.00:1"});
  table.add({"int8_shared", "12.00:1"});
  EXPECT_EQ(table.text(),
            "codec          ratio\n"
            "fp32          1.00:1\n"
            "int8_shared  12.00:1\n");
}

TEST(Printable, EscapesTerminalControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31m\r\nb\x7f"), "a\\x1b[31m\\x0d\\x0ab\\x7f");
  EXPECT_EQ(printable("Größe"), "Größe");
}

TEST(FirstLine, IsTheFirstLineWithText) {
  EXPECT_EQ(first_line("\n  \r\n what\tit is \nand more\n"), "what\\x09it is");
  EXPECT_EQ(first_line("alone"), "alone");
  EXPECT_EQ(first_line(" \n"), "");
}

}  // namespace
}  // namespace tributary
