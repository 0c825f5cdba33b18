// Tests of planning a lab: names, addresses and the settings of each node's link.
#include "core/lab/lab_plan.h"

#include <gmock/gmock.h>

#include "core/lab/lab_names.h"

namespace tributary {
namespace {

using testing::HasSubstr;
using testing::Not;

LinkSettings link_of(std::string_view settings) {
  LinkSettings link;
  EXPECT_TRUE(set_link(link, settings).ok());
  return link;
}

TEST(LabNames, AreReadBack) {
  for (const char* lab : {"a", "lab", "lab-2", "x-hub", "a-0"}) {
    EXPECT_TRUE(check_lab_name(lab).ok());
    EXPECT_EQ(parse_lab_namespace(hub_namespace(lab)),
              (LabNamespace{.lab = lab, .node = std::nullopt}));
    EXPECT_EQ(parse_lab_namespace(node_namespace(lab, 17)), (LabNamespace{.lab = lab, .node = 17}));
  }
  for (const char* other :
       {"", "trib-", "trib-0", "trib-hub", "trib--0", "trib-lab", "lab-0", "trib-lab-01",
        "trib-lab-x", "trib-lab-", "trib-Lab-0", "trib-lab-99999999999", "trib-lab-200"}) {
    EXPECT_EQ(parse_lab_namespace(other), std::nullopt) << other;
  }
  for (const char* bad :
       {"", "0a", "-a", "A", "a/b", "a b", "..", "a.b", "abcdefghijklmnopqrstuvwxyz"}) {
    EXPECT_EQ(check_lab_name(bad).code(), StatusCode::invalid_argument) << bad;
  }
}

TEST(LabNames, EveryNodeHasItsOwn) {
  EXPECT_EQ(node_address(0), "10.77.0.1");
  EXPECT_EQ(node_address(kLabNodesMax - 1), "10.77.0.200");
  EXPECT_EQ(node_mac(15), "02:74:72:69:62:10");
  EXPECT_THAT(hosts_file(2), HasSubstr("10.77.0.1 node-0\n10.77.0.2 node-1\n"));
}

TEST(LabPlan, ANodesOwnSettingsGoOverTheOthers) {
  const Result<LabPlan> plan =
      plan_lab("x", 3, 1500, link_of("rate=1gbit"), {{1, "rate=10mbit"}, {1, "delay=5ms"}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(link_text(plan->links[0]), "rate=1000mbit");
  EXPECT_EQ(link_text(plan->links[1]), "rate=10mbit,delay=5ms");
  EXPECT_TRUE(plan->needs_relay());
  EXPECT_DOUBLE_EQ(round_trip_s(plan->links[0], plan->links[1]), 0.01);
  EXPECT_EQ(plan_lab("x", 3, 1500, {}, {{3, "rate=1mbit"}}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(plan_lab("x", 3, 1500, {}, {{0, "reorder=1%"}}).status().code(),
            StatusCode::invalid_argument);
  EXPECT_EQ(plan_lab("X", 3, 1500, {}, {}).status().code(), StatusCode::invalid_argument);
}

TEST(LabPlan, AGatewayRoutesBetweenNode0AndTheOthers) {
  LabPlan plan = plan_lab("x", 4, 1500, link_of("rate=1gbit"), {}).value();
  ASSERT_TRUE(place_gateway(plan, "rate=10mbit,delay=5ms").ok());
  EXPECT_EQ(link_text(plan.links[0]), "rate=10mbit,delay=5ms");
  EXPECT_EQ(link_text(plan.links[2]), "rate=1000mbit");
  EXPECT_EQ(link_text(plan.links[3]), "unlimited");
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("link set port0 master bridge1 up\n"));
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("link set port3 master bridge0 up\n"));
  EXPECT_THAT(node_ip_lines(plan, 0), HasSubstr("route add 10.77.0.0/24 via 10.77.0.4 dev eth0\n"));
  EXPECT_THAT(node_ip_lines(plan, 0), Not(HasSubstr(node_mac(1))));
  EXPECT_THAT(node_ip_lines(plan, 1), HasSubstr("route add 10.77.0.1/32 via 10.77.0.4\n"));
  EXPECT_THAT(node_ip_lines(plan, 3), HasSubstr("route add 10.77.0.1/32 dev uplink0\n"));

  EXPECT_EQ(place_gateway(plan, "delay=5").code(), StatusCode::invalid_argument);
  LabPlan small = plan_lab("x", 2, 1500, {}, {}).value();
  EXPECT_EQ(place_gateway(small, "rate=10mbit").code(), StatusCode::invalid_argument);
}

// Links with only a rate use the kernel's token bucket filter and no relay.
TEST(LabPlan, RatesAloneAreTheKernels) {
  const LabPlan plan = *plan_lab("x", 2, 1500, {}, {{0, "up-rate=1gbit,down-rate=10mbit"}});
  EXPECT_FALSE(plan.needs_relay());
  EXPECT_EQ(node_tc_lines(plan, 0),
            "qdisc add dev eth0 root tbf rate 1000000000bit burst 125000 limit 1514000\n");
  EXPECT_EQ(hub_tc_lines(plan),
            "qdisc add dev port0 root tbf rate 10000000bit burst 3092 limit 250000\n");
  EXPECT_EQ(node_tc_lines(plan, 1), "") << "nothing holds it back";
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("link add port1 mtu 1500 type veth peer name eth0 "
                                            "address 02:74:72:69:62:02 mtu 1500 netns trib-x-1\n"
                                            "link set port1 master bridge0 up\n"));
}

// The relay creates these interfaces, so the lines only configure them.
TEST(LabPlan, LinksInUserSpaceBringTheirInterfaces) {
  const LabPlan plan = *plan_lab("x", 2, 9000, {}, {{1, "rate=10mbit,delay=1ms"}});
  EXPECT_EQ(node_tc_lines(plan, 1) + hub_tc_lines(plan), "") << "the relay holds the rate";
  EXPECT_THAT(hub_ip_lines(plan), Not(HasSubstr("link add port1")));
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("link set port1 mtu 9000"));
  EXPECT_THAT(node_ip_lines(plan, 1),
              HasSubstr("link set eth0 address 02:74:72:69:62:02 mtu 9000"));
  EXPECT_THAT(node_ip_lines(plan, 0), HasSubstr("addr add 10.77.0.1/24 brd + dev eth0"));
  EXPECT_THAT(node_ip_lines(plan, 0), HasSubstr("neigh replace 10.77.0.2 lladdr "
                                                "02:74:72:69:62:02 dev eth0 nud permanent"));
  EXPECT_THAT(hub_bridge_lines(plan),
              HasSubstr("fdb replace 02:74:72:69:62:02 dev port1 master static"));
}

// A packet that the relay passes on in whole takes half a millisecond at most, or is one frame.
TEST(LabPlan, PacketsOfManyFramesAreForFastLinks) {
  const LabPlan plan = *plan_lab("x", 2, 1500, link_of("delay=1ms"),
                                 {{0, "up-rate=10mbit,down-rate=100mbit"}, {1, "up-rate=1gbit"}});
  EXPECT_THAT(node_ip_lines(plan, 0), HasSubstr("txqueuelen 2000 gso_max_segs 1\n"));
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("port0 mtu 1500 txqueuelen 2000 gso_max_segs 4\n"));
  EXPECT_THAT(node_ip_lines(plan, 1), HasSubstr("txqueuelen 2000 gso_max_segs 41\n"));
  EXPECT_THAT(hub_ip_lines(plan), HasSubstr("port1 mtu 1500 txqueuelen 2000\n"));
}

}  // namespace
}  // namespace tributary
