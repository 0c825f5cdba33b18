// Tests of serving metrics over HTTP in the format of Prometheus.
#include "core/service/metrics/metrics.h"

#include <gtest/gtest.h>

#include "core/service/metrics/scrape_testing.h"

namespace tributary {
namespace {

using service_testing::scrape;
using service_testing::value_of;

std::uint16_t port_of(const Metrics& metrics) {
  const std::string endpoint = metrics.endpoint();
  return static_cast<std::uint16_t>(std::stoul(endpoint.substr(endpoint.rfind(':') + 1)));
}

TEST(Metrics, AreReadableByPrometheus) {
  const auto metrics = open_metrics("127.0.0.1:0");
  ASSERT_TRUE(metrics.ok()) << metrics.status().text();
  (*metrics)->count("tributary_rounds_total");
  (*metrics)->count("tributary_rounds_total", {}, 2);
  (*metrics)->count("tributary_refused_total", {{"reason", "version"}});
  (*metrics)->count("tributary_refused_total", {{"reason", "a \"quoted\"\nword"}});
  (*metrics)->set("tributary_agents", 7);
  (*metrics)->set("tributary_agents", 5.5);
  const std::string answer = scrape(port_of(**metrics));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_NE(answer.find("# TYPE tributary_rounds_total counter"), answer.npos) << answer;
  EXPECT_NE(answer.find("# TYPE tributary_agents gauge"), answer.npos) << answer;
  EXPECT_EQ(value_of(answer, "tributary_rounds_total"), 3);
  EXPECT_EQ(value_of(answer, "tributary_refused_total{reason=\"version\"}"), 1);
  EXPECT_EQ(value_of(answer, "tributary_refused_total{reason=\"a \\\"quoted\\\"\\nword\"}"), 1);
  EXPECT_EQ(value_of(answer, "tributary_agents"), 5.5);
  EXPECT_NE(answer.find("# HELP tributary_agents Agents that have a session."), answer.npos);
}

TEST(Metrics, ATotalIsACounterThatNeverFalls) {
  const auto metrics = open_metrics("127.0.0.1:0");
  ASSERT_TRUE(metrics.ok());
  for (const double total : {5., 8., 3.}) {
    (*metrics)->set("tributary_link_in_bytes_total", total);
  }
  const std::string answer = scrape(port_of(**metrics));
  EXPECT_NE(answer.find("# TYPE tributary_link_in_bytes_total counter"), answer.npos) << answer;
  EXPECT_EQ(value_of(answer, "tributary_link_in_bytes_total"), 8);
}

TEST(Metrics, AnOldNameShowsTheSameForOneRelease) {
  const auto metrics = open_metrics("127.0.0.1:0");
  ASSERT_TRUE(metrics.ok());
  const Labels job = {{"job", "digits"}};
  (*metrics)->set("tributary_link_in_bytes_total", 8);
  (*metrics)->set("tributary_round_seconds", 1.5, job);
  (*metrics)->count("tributary_round_seconds_total", job, 1.5);
  (*metrics)->count("tributary_round_seconds_total", job, 2);
  const std::string answer = scrape(port_of(**metrics));
  EXPECT_EQ(value_of(answer, "tributary_link_in_bytes"), 8) << answer;
  EXPECT_EQ(value_of(answer, "tributary_round_s{job=\"digits\"}"), 1.5);
  EXPECT_EQ(value_of(answer, "tributary_round_s_total{job=\"digits\"}"), 3.5);
  EXPECT_NE(answer.find("# TYPE tributary_link_in_bytes gauge"), answer.npos);
  EXPECT_NE(answer.find("# TYPE tributary_round_s_total counter"), answer.npos);
  EXPECT_NE(answer.find("# HELP tributary_round_s Deprecated, use tributary_round_seconds."),
            answer.npos);
}

TEST(Metrics, OnlyTheirOwnPathIsServed) {
  const auto metrics = open_metrics("127.0.0.1:0");
  ASSERT_TRUE(metrics.ok());
  EXPECT_TRUE(scrape(port_of(**metrics), "/").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(scrape(port_of(**metrics), "/../../etc/passwd").starts_with("HTTP/1.1 4"));
}

TEST(Metrics, AnAddressThatIsTakenIsAnError) {
  const auto first = open_metrics("127.0.0.1:0");
  ASSERT_TRUE(first.ok());
  const auto second = open_metrics((*first)->endpoint());
  EXPECT_EQ(second.status().code(), StatusCode::io_error);
  EXPECT_EQ(open_metrics("nowhere at all").status().code(), StatusCode::io_error);
}

TEST(Metrics, NothingListensUnlessAsked) {
  const auto metrics = open_metrics("");
  ASSERT_TRUE(metrics.ok());
  (*metrics)->count("tributary_rounds_total");
  (*metrics)->set("tributary_agents", 1);
  EXPECT_EQ((*metrics)->endpoint(), "");
}

}  // namespace
}  // namespace tributary
