// Which agents are probed when, and what their echoes say. When a link is quiet and what a probe
// may cost is the prober's to say (core/link_quality/link_prober.h); here there is one for each
// agent, and never more than a few probes under way at once: trains that wait for one another on
// the coordinator's own line would say that every agent's is slow. Pure: times are handed in.
//
// A probe is a round trip, or a train one way. A train down is made of padded messages with small
// echoes, a train up of small messages with padded echoes.
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

enum class ProbeWay : std::uint8_t { round_trip, up, down };
std::string_view name(ProbeWay way);

// Why an echo says nothing of a link.
enum class EchoFault : std::uint8_t {
  unasked,      // no probe of this number is under way to this agent
  late,         // it was, and was given up
  repeated,     // this part has been echoed
  other_train,  // not a part of it, or not as long as was asked for
  no_time,      // its times are missing, go backwards, or are longer than it was away
  bunched,      // of a train: too many parts lay in a queue to tell when they came
  paused,       // of a train: the agent took longer to send it than a line that is worth a train
};
std::string_view name(EchoFault fault);

// What is known of the ways to and from an agent.
struct MeasuredWays {
  MeasuredLink up;
  MeasuredLink down;
};

class LinkProbes {
 public:
  struct Options {
    LinkProberOptions prober = {};
    std::size_t agents_max = 4096;   // whose probers are kept, so long as they are there
    std::size_t under_way_max = 16;  // probes
    std::size_t trains_max = 2;      // of them
    double patience_s = 30;          // for the last echo of a probe
  };
  // Numbers of probes follow the first one.
  LinkProbes(std::uint64_t first_probe, const Options& options)
      : options_(options), last_probe_(first_probe) {}

  // What is to be sent now, by the agents that there are; gives up what nobody has answered.
  std::vector<ProbeLink> due(double now_s, std::span<const Coordinator::AgentView> agents,
                             const std::function<MeasuredWays(const std::string&)>& known);

  struct Reading {
    ProbeWay way = ProbeWay::round_trip;
    LinkTransfer transfer;
  };
  // Nothing yet, what the probe says, or what is wrong with it.
  using Outcome = std::variant<std::monostate, Reading, EchoFault>;
  Outcome take(double now_s, const ProbeEchoed& echo);

  std::size_t under_way() const { return under_way_.size(); }
  std::uint64_t given_up() const { return given_up_; }
  // Of an agent: what its probes have cost so far, both ways; and what they may have.
  double probe_bytes(const std::string& agent_id) const;
  double budget_bytes(const std::string& agent_id, double now_s) const;

 private:
  struct Agent {
    explicit Agent(double now_s, const LinkProberOptions& options) : prober(now_s, options) {}
    LinkProber prober;
    std::uint64_t incarnation = 0;
    std::uint64_t payload_bytes = 0;   // as its session had counted
    std::uint64_t given_up_probe = 0;  // the last one
    // By way: trains were too short to be timed, so that the next one is this long.
    double train_bytes_min[2] = {0, 0};
    bool down_is_next = false;
    double last_seen_s = 0;
  };
  struct UnderWay {
    std::uint64_t probe = 0;
    ProbeWay way = ProbeWay::round_trip;
    double sent_s = 0;
    std::uint32_t padding_bytes = 0;
    std::uint32_t answered = 0;
    std::vector<ProbePart> parts;               // as they came
    std::vector<std::uint64_t> answered_at_ns;  // by the agent's clock
  };

  Agent* agent(double now_s, const Coordinator::AgentView& view);
  void give_up(double now_s);
  ProbeWay way_of_train(const Agent& agent, const MeasuredWays& known) const;
  std::optional<ProbeLink> next(double now_s, const std::string& agent_id, Agent& agent,
                                const MeasuredWays& known);
  std::size_t trains_under_way() const;
  Outcome finished(double now_s, const std::string& agent_id, const UnderWay& probe,
                   const ProbeEchoed& last);
  Outcome round_trip(const UnderWay& probe, const ProbeEchoed& echo) const;

  Options options_;
  std::uint64_t last_probe_;
  std::map<std::string, Agent> agents_;
  std::map<std::string, UnderWay> under_way_;  // by agent
  std::string last_agent_;                     // that was asked: the next one is behind it
  std::uint64_t given_up_ = 0;
};

}  // namespace tributary
