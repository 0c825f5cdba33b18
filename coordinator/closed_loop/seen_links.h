// The coordinator's view of the true links: heartbeats, the arrivals of uploads, and agents'
// reports about one another. The estimates are the production ones (coordinator/links).
//
// Probes are not simulated: a job that runs leaves no link quiet. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/closed_loop/truth/true_federation.h"
#include "coordinator/closed_loop/truth/true_rounds.h"
#include "coordinator/links/link_figures.h"
#include "coordinator/telemetry/telemetry_buffer.h"
#include "core/base/clock.h"
#include "core/link_quality/link_table.h"
#include "core/plan/planner.h"
#include "core/service/metrics/metrics.h"

namespace tributary {

class SeenLinks {
 public:
  static constexpr double kHeartbeat_s = 1;      // interval of heartbeats
  static constexpr double kMinRoundTrip_s = 10;  // between two readings of TCP's round trip
  static constexpr double kReport_s = 1;         // least time between two reports of an agent

  // `federation` must outlive the object.
  static Result<std::unique_ptr<SeenLinks>> make(const TrueFederation& federation);

  // Adds what a round showed. Rounds must be added in order.
  void saw(const TrueRound& round, bool star);
  PlanLinks links_of(const std::vector<std::string>& agents) const;

 private:
  // An agent's estimates of the links from its peers.
  struct Receiver {
    LinkTable links;
    std::map<std::string, double> round_trip_at_s = {};
    double reported_at_s = -kReport_s;
  };

  SeenLinks(const TrueFederation& federation, std::unique_ptr<Metrics> metrics);
  void move_to(double at_s);
  void heartbeats(const TrueRound& round);
  void uploads(const TrueRound& round, bool star);
  void pairs(const TrueRound& round);
  void report(const TrueAgent& agent, Receiver& receiver, double at_s);

  const TrueFederation& federation_;
  std::unique_ptr<Metrics> metrics_;
  ManualClock clock_;
  TelemetryBuffer telemetry_;
  LinkFigures figures_;
  std::map<std::uint32_t, Receiver> receivers_;
  double next_heartbeat_s_ = kHeartbeat_s;
};

}  // namespace tributary
