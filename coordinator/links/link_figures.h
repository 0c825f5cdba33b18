// What the coordinator's link has counted, as metrics and as readings of rounds, and what the ways
// to and from each agent are like, and those between them.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "coordinator/links/link_probes.h"
#include "coordinator/links/pair_figures.h"
#include "coordinator/telemetry/chronicle.h"
#include "core/base/clock.h"
#include "core/link_quality/link_table.h"
#include "core/net/transport.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

class LinkFigures {
 public:
  // How often what is known is kept, of those who were heard meanwhile.
  static constexpr std::chrono::seconds kAlphaEvery{10};
  static constexpr std::chrono::seconds kBetaEvery{1};
  static constexpr std::size_t kAgentsMax = 4096;
  static constexpr double kTrusted = 0.5;  // the confidence from which metrics count a link
  // Two rounds' payloads in a row that both took so many times as long as the line is known to
  // take: so it is now, whether it has changed or others use it. An estimator wants more of them.
  static constexpr double kMuchSlower = 3;
  // So long what large payloads have told holds, where none come any more: few bytes say nothing.
  static constexpr std::chrono::seconds kLargeTold{60};

  // All must outlive it.
  LinkFigures(const Clock& clock, Metrics& metrics, Chronicle& chronicle);

  // What all connections have carried since the round before, retries and other jobs included.
  void round_published(const Reading& round, const LinkCounters& now);
  // The link tells of a flood of refusals only so many; it counts all of them.
  void count_refusals(const LinkCounters& now);

  // A round trip to an agent, as heartbeats show it.
  void round_trip(const std::string& agent_id, double seconds);
  // How long a byte took on the way from an agent, as its payloads of a round show it.
  void uplink(const std::string& agent_id, double seconds_per_byte);
  // The same, of payloads so small that a line may carry them in the burst before its rate begins:
  // says nothing where larger ones have told lately.
  void uplink_of_few(const std::string& agent_id, double seconds_per_byte);
  // The same, of payloads that had to wait for more than the line: tells of one that is quicker
  // than it is known to be, and of nothing else.
  void uplink_at_most(const std::string& agent_id, double seconds_per_byte);
  // What a probe says, and what came instead.
  void probed(const std::string& agent_id, const LinkProbes::Reading& reading);
  void echo_ignored(EchoFault fault);
  void probes_sent(std::span<const ProbeLink> probes, std::uint64_t given_up);
  // What an agent says of the ways from its peers.
  void told(const LinksTold& told);
  // To be called now and then: what is due goes to the chronicle and to the metrics.
  void look_around();
  // The same with what is not due yet: nothing more will come.
  void close();

  // From the agents.
  const LinkTable& links() const { return links_; }
  MeasuredWays ways(const std::string& agent_id) const;
  // Of the way from an agent, where that has become much slower a moment ago.
  std::optional<double> slower_now(const std::string& agent_id) const;
  const PairFigures& pairs() const { return pairs_; }

 private:
  struct Agent {
    bool heard = false;                  // since its latency was kept
    bool by_heartbeat = false;           // of them, or by probes alone
    std::chrono::nanoseconds beta_at{};  // when its rate was kept
    bool beta_kept = false;
    std::array<double, 2> last_s_per_byte = {};        // of large payloads
    std::optional<std::chrono::nanoseconds> large_at;  // when the last of them came
  };

  double now_s() const;
  Agent& agent(const std::string& agent_id);
  void take_uplink(const std::string& agent_id, double seconds_per_byte);
  void keep_alphas();
  void count_known();
  void set_gauges();

  const Clock& clock_;
  Metrics& metrics_;
  Chronicle& chronicle_;
  LinkCounters at_last_round_;
  std::array<std::uint64_t, kRefusalReasons> refused_{};  // as counted so far
  LinkTable links_{kAgentsMax};
  LinkTable downlinks_{kAgentsMax};
  PairFigures pairs_;
  std::uint64_t pairs_ignored_ = 0;  // as counted so far
  std::uint64_t given_up_ = 0;
  std::map<std::string, Agent> agents_;
  std::chrono::nanoseconds interval_began_;
};

}  // namespace tributary
