#include "switch_p4/switchd/jobs/install_order.h"

#include <gtest/gtest.h>

#include "core/net/udp/udp_address.h"

namespace tributary::switchd {
namespace {

wire::InstallEpochT order() {
  wire::InstallEpochT order;
  order.job = 1;
  order.handle = 7;
  order.epoch = 3;
  order.agents = 2;
  order.granularity = 30;
  for (std::uint16_t i = 0; i < 16; ++i) order.places.push_back(static_cast<std::uint16_t>(2 * i));
  order.table = 99;
  order.slot_count = 64;
  order.packet_values = 128;
  return order;
}

TEST(InstallOrder, EveryFieldIsTaken) {
  wire::InstallEpochT given = order();
  given.sources = {"192.0.2.1:4650", "192.0.2.2:4650"};
  const Result<in_network::SlotJob> job = slot_job_of(given, 1024);
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(job->handle, 7);
  EXPECT_EQ(job->epoch, 3u);
  EXPECT_EQ(job->agents, 2u);
  EXPECT_EQ(job->granularity, 30u);
  EXPECT_EQ(job->places[15], 30);
  EXPECT_EQ(job->table, 99);
  EXPECT_EQ(job->slots, 64u);
  EXPECT_EQ(job->packet_values, 128u);
  ASSERT_EQ(job->sources.size(), 2u);
  EXPECT_EQ(job->sources[1], UdpAddress::parse("192.0.2.2:4650")->number());
}

// A coordinator of an earlier release does not know the field.
TEST(InstallOrder, MoreValuesInAPacketThanTheAggregatorTakesAreRefused) {
  EXPECT_TRUE(slot_job_of(order(), 128).ok());
  EXPECT_EQ(slot_job_of(order(), 64).status().code(), StatusCode::invalid_argument);
  wire::InstallEpochT earlier = order();
  earlier.packet_values = 0;
  EXPECT_TRUE(slot_job_of(earlier, 1024).ok());
  EXPECT_EQ(slot_job_of(earlier, 512).status().code(), StatusCode::invalid_argument);
}

TEST(InstallOrder, OtherPlacesAndSourcesAreErrors) {
  wire::InstallEpochT given = order();
  given.places.pop_back();
  EXPECT_EQ(slot_job_of(given, 1024).status().code(), StatusCode::invalid_argument);
  given = order();
  given.sources = {"agent-1"};
  EXPECT_EQ(slot_job_of(given, 1024).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary::switchd
