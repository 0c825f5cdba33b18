// Link measurements of processes that are connected by sockets.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/store/coordinator/run_file.h"
#include "tests/end_to_end/federation/federation.h"

namespace tributary::end_to_end {
namespace {

constexpr double kShapedBytesPerS = 50'000;
constexpr double kAllowanceBytes = 256 * 1024;

// The job requires two agents and has one, so no round starts and only heartbeats are sent.
FederationOptions one_that_waits() {
  return {.agents = 2,
          .coordinator_settings = {"metrics.listen=127.0.0.1:0", "probes.quiet_ms=200",
                                   "probes.spacing_ms=200"},
          .agent_settings = {"link.shape_bytes_per_s=50000", "link.shape_burst_bytes=0"},
          .exit_when_done = false};
}

// Returns the measured rates of the uplink of agent-0 by this method, in bytes/s.
std::vector<double> rates_up(const Federation& federation, wire::LinkMethod method) {
  const auto file = RunFile::open(federation.path("coordinator.db"));
  EXPECT_TRUE(file.ok()) << file.status().text();
  const auto links = (*file)->link_samples(0, 1000);
  EXPECT_TRUE(links.ok()) << links.status().text();
  std::vector<double> rates;
  for (const StoredLinkSample& link : *links) {
    if (link.sample.from != "agent-0" || link.sample.method != method) continue;
    EXPECT_EQ(link.sample.to, "");
    rates.push_back(1 / link.sample.beta_s_per_byte);
  }
  return rates;
}

TEST(Links, AQuietAgentBehindASlowLineIsProbedWithinTheBudget) {
  Federation federation(one_that_waits());
  federation.start_coordinator();
  federation.start_agent(0);
  ASSERT_TRUE(eventually([&] {
    return federation.metric("tributary_link_probes_total{way=\"up\"}") >= 4 &&
           federation.metric("tributary_link_probes_total{way=\"down\"}") >= 2;
  }));
  EXPECT_LE(federation.metric("tributary_link_probe_bytes_total"), kAllowanceBytes)
      << "no round has carried anything";
  federation.agent(0).signal(SIGTERM);
  EXPECT_EQ(federation.agent(0).wait(), 0);
  federation.coordinator().signal(SIGTERM);
  EXPECT_EQ(federation.coordinator().wait(), 0);

  const std::vector<double> rates = rates_up(federation, wire::LinkMethod::active);
  ASSERT_GE(rates.size(), 2u) << "echoes of trains became estimates";
  // A wide range, because scheduling delays of a busy machine lower the estimate.
  EXPECT_GT(rates.back(), kShapedBytesPerS / 3) << "a busy machine makes it look slower";
  EXPECT_LT(rates.back(), kShapedBytesPerS * 1.2) << "and not quicker";
}

TEST(Links, NoAgentIsProbedWhereThatIsOff) {
  FederationOptions options = one_that_waits();
  options.coordinator_settings.emplace_back("probes.on=false");
  Federation federation(options);
  federation.start_coordinator();
  federation.start_agent(0);
  ASSERT_TRUE(eventually([&] { return federation.metric("tributary_round_trips_total") >= 10; }));
  EXPECT_EQ(federation.metric("tributary_link_probe_bytes_total"), 0);
}

// Every agent receives payloads from another one. They are long, so that they do not arrive in a
// single read.
TEST(Links, PeersReportTheLinksBetweenThem) {
  Federation federation(
      {.rounds = 6,
       .parameters = 2'000'000,
       .coordinator_settings = {"job.collective=ring", "job.bucket_values=1000000"},
       .agent_settings = {"peers.endpoint=tcp://127.0.0.1:0", "trainer.train_ms=500"}});
  federation.start_all();
  federation.expect_all_end();
  federation.expect_sound();
  const auto answer = nlohmann::json::parse(federation.ask({"link", "list"}));
  int pairs = 0;
  for (const auto& link : answer.at("data").at("links")) {
    const auto from = link.at("from").get<std::string>();
    const auto to = link.at("to").get<std::string>();
    if (from.empty() || to.empty()) continue;
    ++pairs;
    EXPECT_NE(from, to);
    for (const char* const name : {"alpha_s", "beta_s_per_byte"}) {
      const auto& figure = link.at(name);
      if (figure.is_null()) continue;
      EXPECT_GT(figure.at("value").get<double>(), 0);
      EXPECT_LE(figure.at("confidence").get<double>(), 1);
      EXPECT_GE(figure.at("age_s").get<double>(), 0);
      EXPECT_EQ(figure.at("method"), "passive");
    }
    EXPECT_FALSE(link.at("alpha_s").is_null());
  }
  EXPECT_GE(pairs, 3) << "each has a neighbour in the ring";
}

}  // namespace
}  // namespace tributary::end_to_end
