// Tests of data URIs with the test vectors of RFC 4648.
#include "cli/report/svg/data_uri.h"

#include <gtest/gtest.h>

namespace tributary::report {
namespace {

std::string encoded(std::string_view text) { return data_uri("text/plain", bytes_of(text)); }

// The test vectors of RFC 4648.
TEST(DataUri, HasEveryLengthOfTheEnd) {
  const std::string head = "data:text/plain;base64,";
  EXPECT_EQ(encoded(""), head);
  EXPECT_EQ(encoded("f"), head + "Zg==");
  EXPECT_EQ(encoded("fo"), head + "Zm8=");
  EXPECT_EQ(encoded("foo"), head + "Zm9v");
  EXPECT_EQ(encoded("foobar"), head + "Zm9vYmFy");
}

TEST(DataUri, HasEveryDigit) {
  const Bytes bytes = {0x00, 0xff, 0xfe, 0xfb, 0xf0};
  EXPECT_EQ(data_uri("image/png", bytes), "data:image/png;base64,AP/++/A=");
}

}  // namespace
}  // namespace tributary::report
