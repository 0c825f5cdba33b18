// Decides which agents are probed at which time, and evaluates the echoes.
//
// LinkProber (core/link_quality/link_prober.h) decides when one link is idle and how much probing
// may cost. This class has one LinkProber per agent, and bounds the number of concurrent probes:
// trains that share the coordinator's own link would make every agent's link look slow.
//
// A probe is a round trip, or a train in one direction. A downlink train consists of padded
// messages with small echoes, an uplink train of small messages with padded echoes. The class does
// no I/O; the caller passes times (seconds of one monotonic clock) and sends the probes. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/link_quality/link_estimator.h"
#include "core/link_quality/link_prober.h"
#include "core/link_quality/probe_train.h"
#include "core/round/common/machine/events.h"
#include "core/round/coordinator/coordinator.h"

namespace tributary {

enum class ProbeDirection : std::uint8_t { round_trip, up, down };
std::string_view name(ProbeDirection direction);

// The reason why an echo is not used.
enum class EchoFault : std::uint8_t {
  unasked,      // no probe of this number is in progress to this agent
  late,         // the probe was given up before
  repeated,     // this part was already echoed
  other_train,  // wrong number of parts, index or length
  no_time,      // times are missing, decrease, or exceed the round trip
  bunched,      // train: too many parts waited in a queue to measure when they arrived
  paused,       // train: the agent took too long to send it for the link to be measured
};
std::string_view name(EchoFault fault);

// The measured links from (`up`) and to (`down`) an agent.
struct MeasuredLinks {
  MeasuredLink up;
  MeasuredLink down;
};

class LinkProbes {
 public:
  struct Options {
    LinkProberOptions prober = {};
    std::size_t agents_max = 4096;  // bound on the number of agents with a prober
    std::size_t pending_max = 16;   // concurrent probes
    std::size_t trains_max = 2;     // concurrent trains among them
    double patience_s = 30;         // time in seconds to wait for the last echo of a probe
  };
  // Probes are numbered from first_probe + 1; 0 is not used.
  LinkProbes(std::uint64_t first_probe, const Options& options)
      : options_(options), last_probe_(first_probe) {}

  // Returns the probes to send now to the connected agents. Gives up probes without an answer.
  // Agents take turns, so that all are probed. `known` returns the measured links of an agent.
  std::vector<ProbeLink> due(double now_s, std::span<const Coordinator::AgentView> agents,
                             const std::function<MeasuredLinks(const std::string&)>& known);

  // The result of a complete probe.
  struct Reading {
    ProbeDirection direction = ProbeDirection::round_trip;
    LinkTransfer transfer;
  };
  // Empty if more echoes are missing; the result of the probe; or why the echo is not used.
  using Outcome = std::variant<std::monostate, Reading, EchoFault>;
  Outcome take(double now_s, const ProbeEchoed& echo);

  std::size_t pending() const { return pending_.size(); }
  std::uint64_t given_up() const { return given_up_; }
  // Bytes that an agent's probes have cost so far in both directions, and the bytes that they may
  // cost.
  double probe_bytes(const std::string& agent_id) const;
  double budget_bytes(const std::string& agent_id, double now_s) const;

 private:
  struct Agent {
    explicit Agent(double now_s, const LinkProberOptions& options) : prober(now_s, options) {}
    LinkProber prober;
    std::uint64_t incarnation = 0;
    std::uint64_t payload_bytes = 0;   // counter of the session at the last call
    std::uint64_t given_up_probe = 0;  // number of the last one
    // Least size of the next train in bytes, by direction, after a train that was too short to
    // time.
    double train_bytes_min[2] = {0, 0};
    bool down_is_next = false;
    double last_seen_s = 0;
  };
  struct PendingProbe {
    std::uint64_t probe = 0;
    ProbeDirection direction = ProbeDirection::round_trip;
    double sent_s = 0;
    std::uint32_t padding_bytes = 0;
    std::uint32_t answered = 0;
    std::vector<ProbePart> parts;               // in the order of their index
    std::vector<std::uint64_t> answered_at_ns;  // by the agent's clock
  };

  Agent* agent(double now_s, const Coordinator::AgentView& view);
  void give_up(double now_s);
  ProbeDirection train_direction(const Agent& agent, const MeasuredLinks& known) const;
  std::optional<ProbeLink> next(double now_s, const std::string& agent_id, Agent& agent,
                                const MeasuredLinks& known);
  std::size_t pending_trains() const;
  Outcome finished(double now_s, const std::string& agent_id, const PendingProbe& probe,
                   const ProbeEchoed& last);
  Outcome round_trip(const PendingProbe& probe, const ProbeEchoed& echo) const;

  Options options_;
  std::uint64_t last_probe_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, PendingProbe> pending_;  // by agent id
  std::string last_agent_;                       // last probed agent; the next turn starts after it
  std::uint64_t given_up_ = 0;
};

}  // namespace tributary
