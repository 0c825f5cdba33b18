// Collects what the coordinator measures about links: the uplink and downlink of each agent, the
// links between agents, and the byte counts of its own transport. Publishes them as metrics and as
// telemetry.
//
// Memory is bounded by kAgentsMax agents and by PairFigures. Values are in seconds and seconds per
// byte. Threads: all methods belong to one thread at a time.
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
#include "coordinator/telemetry/telemetry_buffer.h"
#include "core/base/clock.h"
#include "core/link_quality/link_table.h"
#include "core/net/transport.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

// The direction of an agent's link, seen from the agent.
enum class LinkDirection : std::uint8_t { up, down };

class LinkFigures {
 public:
  // Least time between two stored samples of a latency and of a rate.
  static constexpr std::chrono::seconds kAlphaEvery{10};
  static constexpr std::chrono::seconds kBetaEvery{1};
  static constexpr std::size_t kAgentsMax = 4096;
  static constexpr double kTrusted = 0.5;  // least confidence of a link that the metrics count
  // If the payloads of two consecutive rounds both take this many times as long as the link's known
  // rate predicts, the link is slower now, because it changed or is shared. The estimator needs
  // more readings than two to notice.
  static constexpr double kMuchSlower = 3;
  // Time for which readings from large payloads take precedence. Within it, readings of small
  // payloads are ignored, because they carry less information.
  static constexpr std::chrono::seconds kLargeValidTime{60};

  // All arguments must outlive the object.
  LinkFigures(const Clock& clock, Metrics& metrics, TelemetryBuffer& telemetry);

  // Stores the bytes of all connections since the previous round, including repeats and other jobs.
  void round_published(const Reading& round, const LinkCounters& now);
  // Counts all refusals. The link itself reports only a limited number of events.
  void count_refusals(const LinkCounters& now);

  // Adds a round trip measured with a heartbeat.
  void round_trip(const std::string& agent_id, double seconds);
  // Adds the time per byte of an agent's uplink, measured on the payloads of a round.
  void uplink(const std::string& agent_id, double seconds_per_byte);
  // The same for small payloads. A link may carry those in a burst above its rate, so they are
  // ignored for kLargeValidTime after a large payload.
  void uplink_of_few(const std::string& agent_id, double seconds_per_byte);
  // The same for payloads that also waited for something other than the link. The value is an upper
  // bound: it counts only if the link is faster than known.
  void uplink_at_most(const std::string& agent_id, double seconds_per_byte);
  // The same for an agent's downlink, measured on payloads that were sent to it.
  void downlink(const std::string& agent_id, double seconds_per_byte);
  void downlink_of_few(const std::string& agent_id, double seconds_per_byte);
  // An unknown downlink counts as fast as the uplink.
  void downlink_at_most(const std::string& agent_id, double seconds_per_byte);
  // Adds the result of a probe.
  void probed(const std::string& agent_id, const LinkProbes::Reading& reading);
  // Counts an echo that could not be used.
  void echo_ignored(EchoFault fault);
  // Counts sent probes. `given_up` is the total number of lost probes so far.
  void probes_sent(std::span<const ProbeLink> probes, std::uint64_t given_up);
  // Adds an agent's measurements of the links from its peers.
  void reported(const LinksReported& links);
  // Periodic task: stores samples and sets metrics if kAlphaEvery has passed.
  void run_periodic_tasks();
  // Stores all samples that are not due yet. Call it before the end.
  void close();

  // Links from the agents to the coordinator.
  const LinkTable& links() const { return links_; }
  MeasuredLinks measured_links(const std::string& agent_id) const;
  // Returns the current time per byte of an agent's uplink if it has recently become much slower
  // (kMuchSlower).
  std::optional<double> slower_now(const std::string& agent_id) const;
  // Whether the rate of a direction comes from payloads of few bytes. These may have arrived in one
  // burst, much faster than the link, so the rate is no more than a guess.
  bool rate_of_few(LinkDirection direction, const std::string& agent_id) const;
  const PairFigures& pairs() const { return pairs_; }

 private:
  // The payloads that measured one direction of a link.
  struct Payloads {
    std::optional<std::chrono::nanoseconds> stored_at;  // time of the last stored rate
    std::optional<std::chrono::nanoseconds> large_at;   // time of the last large payload
    std::array<double, 2> last_s_per_byte = {};         // of the last two large payloads
    bool of_few = false;                                // the last reading of the rate
  };
  struct Agent {
    bool latency_measured = false;     // since the last stored latency
    bool by_heartbeat = false;         // whether a heartbeat, and not only a probe, measured it
    std::array<Payloads, 2> payloads;  // by direction
  };

  static constexpr std::size_t index(LinkDirection direction) {
    return static_cast<std::size_t>(direction);
  }

  double now_s() const;
  Agent& agent(const std::string& agent_id);
  void take_large(LinkDirection direction, const std::string& agent_id, double seconds_per_byte);
  void take_few(LinkDirection direction, const std::string& agent_id, double seconds_per_byte);
  void take(LinkDirection direction, const std::string& agent_id, double seconds_per_byte);
  void keep_alphas();
  void count_known();
  void set_gauges();

  const Clock& clock_;
  Metrics& metrics_;
  TelemetryBuffer& telemetry_;
  LinkCounters at_last_round_;
  std::array<std::uint64_t, kRefusalReasons> refused_{};  // as last counted
  LinkTable links_{kAgentsMax};
  LinkTable downlinks_{kAgentsMax};
  PairFigures pairs_;
  std::uint64_t pairs_ignored_ = 0;  // as last counted
  // Lost probes, as last counted.
  std::uint64_t given_up_ = 0;
  std::map<std::string, Agent> agents_;
  std::chrono::nanoseconds interval_began_;
};

}  // namespace tributary
