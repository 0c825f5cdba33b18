#include "core/net/udp/udp_address.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(UdpAddress, IsReadAsWritten) {
  const auto address = UdpAddress::parse("192.168.1.5:4650");
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->text(), "192.168.1.5:4650");
  EXPECT_EQ(UdpAddress::of_number(address->number()), *address);
  EXPECT_FALSE(address->is_multicast());
  EXPECT_TRUE(UdpAddress::parse("239.1.2.3:1")->is_multicast());
  for (const char* text :
       {"", "1.2.3.4", "1.2.3:5", "1.2.3.4:", "1.2.3.4:65536", "host:5", "1.2.3.4:5 "}) {
    EXPECT_FALSE(UdpAddress::parse(text).ok()) << text;
  }
}

}  // namespace
}  // namespace tributary
