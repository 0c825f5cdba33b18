#include "switch_p4/xdp/gateway_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::switch_xdp {
namespace {

using testing::HasSubstr;

Result<GatewaySettings> read(std::vector<std::string> more) {
  DaemonFlags flags;
  flags.assignments = {"switch.listen=192.168.1.1:4650", "switch.device=eth0",
                       "switch.state=/tmp/epochs"};
  for (std::string& one : more) flags.assignments.push_back(std::move(one));
  return read_gateway_settings(flags);
}

TEST(GatewaySettings, ReadsTheSettingsOfSwitchdAndItsOwn) {
  const auto settings =
      read({"switch.mode=generic", "switch.group=239.255.1.7:4651", "switch.slots=64",
            "switch.segments=false", "switch.batch=8",
            ("switch.jobs=[\"handle=7 epoch=1 agents=4 granularity=30 table=99 slots=64 "
             "places=0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30\"]")});
  ASSERT_TRUE(settings.ok()) << settings.status().text();
  EXPECT_EQ(settings->device, "eth0");
  EXPECT_EQ(settings->mode, XdpMode::generic);
  EXPECT_EQ(settings->common.ports.slots, 64u);
  EXPECT_EQ(settings->common.ports.listen.text(), "192.168.1.1:4650");
  EXPECT_EQ(settings->common.ports.group.text(), "239.255.1.7:4651");
  EXPECT_FALSE(settings->common.ports.segments);
  EXPECT_EQ(settings->common.ports.batch, 8u);
  ASSERT_EQ(settings->common.jobs.size(), 1u);
  EXPECT_EQ(settings->common.jobs[0].handle, 7);
}

TEST(GatewaySettings, NamesWhatIsMissingOrWrong) {
  EXPECT_EQ(read({})->mode, XdpMode::any);
  const auto error = [](std::vector<std::string> more) {
    return read(std::move(more)).status().text();
  };
  EXPECT_THAT(error({"switch.device="}), HasSubstr("switch.device"));
  EXPECT_THAT(error({"switch.state="}), HasSubstr("switch.state"));
  EXPECT_THAT(error({"switch.mode=fast"}), HasSubstr("one of any, native, generic"));
  EXPECT_THAT(error({"switch.listen=192.168.1.1:0"}), HasSubstr("a port"));
  EXPECT_THAT(error({"switch.group=10.0.0.1:4651"}), HasSubstr("224.0.0.0/4"));
  EXPECT_THAT(error({"switch.slots=0"}), HasSubstr("switch.slots"));
  EXPECT_THAT(read_gateway_settings({}).status().text(), HasSubstr("switch.listen"));
}

}  // namespace
}  // namespace tributary::switch_xdp
