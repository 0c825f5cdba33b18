// Tests of the connection between readings, figures and probes of links.
#include "coordinator/links/link_watch.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

namespace tributary {
namespace {

class GaugesAndCounts final : public Metrics {
 public:
  void count(std::string_view name, const Labels& labels, double by) override {
    for (const auto& [key, value] : labels) counted[std::string(name) + " " + value] += by;
    counted[std::string(name)] += by;
  }
  void set(std::string_view, double, const Labels&) override {}

  std::map<std::string, double> counted;
};

struct LinkWatchTest : testing::Test {
  LinkWatch watch_of(std::optional<LinkProbes> probes) {
    return {std::make_unique<LinkFigures>(clock, metrics, telemetry), std::move(probes)};
  }
  static LinkProbes probing() { return {1, {.prober = {.quiet_s = 2, .spacing_s = 1}}}; }
  static std::vector<Coordinator::AgentView> one_agent() {
    return {{.agent_id = "a", .incarnation = 1}};
  }

  ManualClock clock;
  TelemetryBuffer telemetry{clock};
  GaugesAndCounts metrics;
};

TEST_F(LinkWatchTest, ReadingsOfALinkBecomeItsFigures) {
  LinkWatch watch = watch_of(std::nullopt);
  const auto known = [&] { return watch.figures().measured_links("a").up.beta_s_per_byte.known(); };
  EXPECT_FALSE(known());
  watch.take_reading({.kind = ReadingKind::evaluation_loss, .value = 1, .agent_id = "a"});
  EXPECT_FALSE(known()) << "it says nothing of a line";
  watch.take_reading({.kind = ReadingKind::uplink_s_per_byte, .value = 1e-6, .agent_id = "a"});
  EXPECT_TRUE(known());
  for (const auto& [kind, agent] : {std::pair(ReadingKind::downlink_s_per_byte, "b"),
                                    std::pair(ReadingKind::downlink_s_per_byte_of_few, "c"),
                                    std::pair(ReadingKind::downlink_s_per_byte_at_most, "a")}) {
    watch.take_reading({.kind = kind, .value = 1e-7, .agent_id = agent});
    EXPECT_TRUE(watch.figures().measured_links(agent).down.beta_s_per_byte.known()) << agent;
  }
}

TEST_F(LinkWatchTest, WithoutProbesNoneIsDueAndAnEchoIsUnasked) {
  LinkWatch watch = watch_of(std::nullopt);
  for (double now_s = 0; now_s < 100; ++now_s) {
    EXPECT_TRUE(watch.probes_due(now_s, one_agent()).empty());
  }
  watch.take_echo(1, {.agent_id = "a", .probe = 5});
  double ignored = 0;
  for (const auto& [name, count] : metrics.counted) {
    if (name.ends_with(" unasked")) ignored += count;
  }
  EXPECT_EQ(ignored, 1);
}

TEST_F(LinkWatchTest, AQuietLinkIsProbed) {
  LinkWatch watch = watch_of(probing());
  std::size_t probes = 0;
  for (double now_s = 0; now_s < 100; ++now_s) {
    probes += watch.probes_due(now_s, one_agent()).size();
  }
  EXPECT_GT(probes, 0u);
}

}  // namespace
}  // namespace tributary
