// Tests of the settings of a link as text, and of the queue that fits it.
#include "core/lab/link_settings.h"

#include <gmock/gmock.h>

namespace tributary {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

LinkSettings link_from(std::string_view settings) {
  LinkSettings link;
  EXPECT_TRUE(set_link(link, settings).ok()) << set_link(link, settings).text();
  return link;
}

TEST(LinkSettings, ReadsRates) {
  EXPECT_EQ(*parse_bit_rate("100mbit"), 100'000'000u);
  EXPECT_EQ(*parse_bit_rate("2.5gbit"), 2'500'000'000u);
  EXPECT_EQ(*parse_bit_rate("64kbit"), 64'000u);
  EXPECT_EQ(*parse_bit_rate("9600bit"), 9'600u);
  EXPECT_EQ(*parse_bit_rate("unlimited"), 0u);
  EXPECT_EQ(*parse_bit_rate("0"), 0u);
  for (const char* bad : {"", "100", "100 mbit", "100Mbit/s", "mbit", "-1mbit", "1e3mbit", "nan",
                          "1bit", "2000gbit", "0x10mbit", "100mbits"}) {
    EXPECT_EQ(parse_bit_rate(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(LinkSettings, ReadsTimes) {
  EXPECT_EQ(*parse_delay("20ms"), milliseconds(20));
  EXPECT_EQ(*parse_delay("1.5s"), milliseconds(1500));
  EXPECT_EQ(*parse_delay("300us"), microseconds(300));
  EXPECT_EQ(*parse_delay("0"), nanoseconds(0));
  EXPECT_EQ(*parse_delay("0ms"), nanoseconds(0));
  for (const char* bad : {"", "20", "-1ms", "61s", "ms", "20 ms", "inf"}) {
    EXPECT_EQ(parse_delay(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(LinkSettings, ReadsShares) {
  EXPECT_DOUBLE_EQ(*parse_share("1%"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_share("0.01"), 0.01);
  EXPECT_DOUBLE_EQ(*parse_share("100%"), 1);
  for (const char* bad : {"", "%", "101%", "1.5", "-1%", "1%%", "nan"}) {
    EXPECT_EQ(parse_share(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(LinkSettings, ARateHoldsBothWaysUnlessOneIsNamed) {
  const LinkSettings link = link_from("rate=100mbit,up-rate=10mbit,delay=20ms,loss=1%,queue=65536");
  EXPECT_EQ(link.up_bits_per_s, 10'000'000u);
  EXPECT_EQ(link.down_bits_per_s, 100'000'000u);
  EXPECT_EQ(link.delay, milliseconds(20));
  EXPECT_DOUBLE_EQ(link.loss, 0.01);
  EXPECT_EQ(link.queue_bytes, 65'536u);
}

TEST(LinkSettings, TextsAreReadBack) {
  for (const char* text :
       {"rate=100mbit", "up-rate=0.064mbit,down-rate=2.5mbit", "delay=0.3ms,jitter=2ms",
        "delay=0.000001ms", "rate=10mbit,delay=50ms,loss=0.1%,reorder=2%,queue=4096",
        "trace=a/b.csv"}) {
    EXPECT_EQ(link_text(link_from(text)), text);
    EXPECT_EQ(link_from(link_text(link_from(text))), link_from(text));
  }
  EXPECT_EQ(link_text({}), "unlimited");
}

TEST(LinkSettings, AnUnknownOneIsAnsweredWithTheNearest) {
  LinkSettings link;
  const Status status = set_link(link, "dealy=5ms");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.text(), testing::HasSubstr("'delay'"));
  EXPECT_EQ(set_link(link, "rate").code(), StatusCode::invalid_argument);
  EXPECT_EQ(set_link(link, ",").code(), StatusCode::invalid_argument);
  EXPECT_EQ(set_link(link, "trace=").code(), StatusCode::invalid_argument);
  EXPECT_EQ(set_link(link, "queue=100").code(), StatusCode::invalid_argument);
  EXPECT_EQ(set_link(link, "queue=1k").code(), StatusCode::invalid_argument);
}

TEST(LinkSettings, OneNodesOwn) {
  const Result<NodeSettings> node = parse_node_settings("2:rate=10mbit,delay=50ms");
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->node, 2u);
  EXPECT_EQ(node->settings, "rate=10mbit,delay=50ms");
  for (const char* bad : {"", "2", ":rate=1mbit", "x:rate=1mbit", "-1:rate=1mbit", "2:rate=1",
                          "99999999999:rate=1mbit", "2 :rate=1mbit"}) {
    EXPECT_EQ(parse_node_settings(bad).status().code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(LinkSettings, InconsistentSettingsAreRefused) {
  EXPECT_TRUE(check_link(link_from("reorder=1%,delay=5ms")).ok());
  EXPECT_EQ(check_link(link_from("reorder=1%")).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(check_link(link_from("trace=a.csv,jitter=1ms")).ok());
  EXPECT_EQ(check_link(link_from("trace=a.csv,rate=1mbit")).code(), StatusCode::invalid_argument);
  EXPECT_EQ(check_link(link_from("trace=a.csv,loss=1%")).code(), StatusCode::invalid_argument);
}

TEST(LinkSettings, TheKernelDoesRatesAlone) {
  EXPECT_FALSE(needs_user_space(link_from("rate=10mbit,queue=65536")));
  EXPECT_FALSE(needs_user_space({}));
  for (const char* text : {"delay=1ms", "jitter=1ms", "loss=1%", "reorder=1%", "trace=a.csv"}) {
    EXPECT_TRUE(needs_user_space(link_from(text))) << text;
  }
}

TEST(LinkSettings, AQueueFitsItsLink) {
  // At 1 Gbit/s, 10 ms and four times 5 ms are 3.75 MB.
  EXPECT_EQ(queue_bytes_for(link_from("delay=5ms"), 1'000'000'000, 1500), 3'750'000u);
  EXPECT_EQ(queue_bytes_for({}, 100'000'000, 1500), 1000u * 1514) << "as Linux has it";
  EXPECT_EQ(queue_bytes_for({}, 10'000'000, 1500), 250'000u) << "no more than 200 ms of waiting";
  EXPECT_EQ(queue_bytes_for(link_from("delay=50ms"), 10'000'000, 1500), 262'500u)
      << "its round trip is longer than that";
  EXPECT_EQ(queue_bytes_for({}, 500'000, 1500), 16u * 1514) << "never less than some frames";
  EXPECT_EQ(queue_bytes_for(link_from("queue=4096"), 1'000'000'000, 1500), 4096u);
  EXPECT_EQ(queue_bytes_for(link_from("delay=10s"), 10'000'000'000, 1500), 64u << 20);
}

}  // namespace
}  // namespace tributary
