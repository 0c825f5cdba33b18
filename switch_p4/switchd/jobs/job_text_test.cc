#include "switch_p4/switchd/jobs/job_text.h"

#include <gtest/gtest.h>

#include <string>

namespace tributary::switchd {
namespace {

const std::string kText =
    "handle=7 epoch=1 agents=2 granularity=30 table=99 slots=64 "
    "places=0,3,5,7,9,11,13,14,16,17,19,21,23,25,27,30";

TEST(JobText, EveryKeyIsRead) {
  const auto job = parse_job(kText + " sources=10.0.0.1:5,10.0.0.2:6 values=128");
  ASSERT_TRUE(job.ok()) << job.status().text();
  EXPECT_EQ(job->handle, 7);
  EXPECT_EQ(job->epoch, 1u);
  EXPECT_EQ(job->agents, 2u);
  EXPECT_EQ(job->granularity, 30u);
  EXPECT_EQ(job->table, 99);
  EXPECT_EQ(job->slots, 64u);
  EXPECT_EQ(job->places[15], 30);
  EXPECT_EQ(job->packet_values, 128u);
  ASSERT_EQ(job->sources.size(), 2u);
  EXPECT_EQ(job->sources[1], 0x0a0000020006u);
}

TEST(JobText, OtherTextsAreErrors) {
  EXPECT_TRUE(parse_job(kText).ok());
  for (const std::string& text :
       {std::string(), kText + " handle=7", kText + " more=1", kText + " word",
        kText.substr(0, kText.size() - 3), kText + ",1", kText + " sources=host:5",
        "handle=65536 " + kText.substr(9), "handle=7x " + kText.substr(9), kText.substr(9)}) {
    const auto job = parse_job(text);
    ASSERT_FALSE(job.ok()) << text;
    EXPECT_EQ(job.status().code(), StatusCode::invalid_argument);
  }
}

}  // namespace
}  // namespace tributary::switchd
