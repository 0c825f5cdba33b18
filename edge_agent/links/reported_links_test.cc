// Tests of the links that an agent reports: only news, and not too often.
#include "edge_agent/links/reported_links.h"

#include <gtest/gtest.h>

#include <string>

namespace tributary {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

LinkQuantity figure(double value, double confidence = 0.5) {
  return {.value = value, .confidence = confidence, .age_s = 0};
}

PeerMeasured peer(const LinkQuantity& alpha_s, const LinkQuantity& beta, std::string id = "a") {
  return {.agent_id = std::move(id), .link = {.alpha_s = alpha_s, .beta_s_per_byte = beta}};
}

// Small differences are reported only at intervals.
TEST(ReportedLinks, AnUnchangedLinkIsReportedPeriodically) {
  ReportedLinks reported;
  EXPECT_TRUE(reported.due(0, peer(figure(1), figure(1e-6))));
  EXPECT_FALSE(reported.due(kSecond, peer(figure(1.1), figure(1.1e-6))));
  EXPECT_FALSE(reported.due(9 * kSecond, peer(figure(0.9), figure(1e-6))));
  EXPECT_TRUE(reported.due(10 * kSecond, peer(figure(1), figure(1e-6))));
  EXPECT_FALSE(reported.due(11 * kSecond, peer(figure(1), figure(1e-6))));
}

// A change is reported at once and then counts as reported.
TEST(ReportedLinks, AChangeIsReportedAtOnceAndOnce) {
  ReportedLinks reported;
  EXPECT_TRUE(reported.due(0, peer(figure(1), {})));
  EXPECT_TRUE(reported.due(1, peer(figure(1), figure(1e-6)))) << "now it is known";
  EXPECT_TRUE(reported.due(2, peer(figure(1), figure(2e-6)))) << "slower";
  EXPECT_FALSE(reported.due(3, peer(figure(1), figure(2e-6))));
  EXPECT_TRUE(reported.due(4, peer(figure(0.5), figure(2e-6)))) << "nearer";
  EXPECT_FALSE(reported.due(5, peer(figure(0.5), {}))) << "to know less is no news";
}

// Only an increase of the confidence is a reason to report.
TEST(ReportedLinks, BetterReadingsAreReportedToo) {
  ReportedLinks reported;
  EXPECT_TRUE(reported.due(0, peer({}, figure(1e-6, 0.14))));
  EXPECT_FALSE(reported.due(1, peer({}, figure(1e-6, 0.2))));
  EXPECT_TRUE(reported.due(2, peer({}, figure(1e-6, 0.31))));
  EXPECT_FALSE(reported.due(3, peer({}, figure(1e-6, 0.1)))) << "and less is none";
}

TEST(ReportedLinks, EachPeerForItself) {
  ReportedLinks reported;
  EXPECT_TRUE(reported.due(0, peer(figure(1), {})));
  EXPECT_TRUE(reported.due(0, peer(figure(1), {}, "b")));
  EXPECT_FALSE(reported.due(1, peer(figure(1), {}, "b")));
}

// At the bound of peers, everything is reported anew.
TEST(ReportedLinks, RemembersSoMany) {
  ReportedLinks reported;
  for (std::size_t i = 0; i <= 2 * ReportedLinks::kPeersMax; ++i) {
    EXPECT_TRUE(reported.due(0, peer(figure(1), {}, std::to_string(i))));
  }
}

}  // namespace
}  // namespace tributary
