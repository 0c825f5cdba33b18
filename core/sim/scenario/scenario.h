// The description of a simulation: the number of agents and rounds, the job, the machines and
// links, and the faults. It is read from a TOML file (docs/simulation.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/net/shaped/trace.h"
#include "core/round/common/machine/events.h"
#include "core/round/common/machine/policy.h"
#include "core/sim/scenario/draws.h"
#include "core/store/durability/durability.h"

namespace tributary {

// A fault of one machine or link. The scenario states how often it happens in a run.
enum class Incident : std::uint8_t {
  agent_kill,       // between any two actions; written data survives
  agent_power_cut,  // during any write or sync
  coordinator_kill,
  coordinator_power_cut,
  kill_before_publish,  // of the coordinator, between storing and publishing a commit
  partition,            // some agents are separated
  slow_link,            // delays of up to a second
  agent_leave,          // leaves its job and returns
  late_join,            // an agent that is absent at first
  straggler,            // trains far longer than the deadline
  training_failure,
  disk_full,        // of an agent or the coordinator
  disk_failure,     // some writes and syncs fail
  lying_agent,      // sends frames with wrong sizes
  garbage,          // unknown processes and agents send random bytes
  twin_agent,       // a second process with the same identity sends a Hello
  replay,           // an old message is sent again
  peer_break,       // some connections between agents break
  lying_peer,       // an agent's messages to its peers have wrong bits
  aggregator_kill,  // of the aggregator in the network; the numbers of its epochs survive
  tampered_sums,    // some results of the aggregator have wrong sums
};
inline constexpr std::size_t kIncidents = 21;
std::string_view name(Incident incident);

// A range of times in milliseconds, from the lower to the higher.
struct SpanMs {
  double low = 0;
  double high = 0;
};
TimeNs draw_ns(const SpanMs& span, SeededDraws& draws);

// How often an incident happens and how long it lasts.
struct IncidentPlan {
  std::uint32_t count = 0;
  SpanMs duration;
};

// A range from the lower to the higher value, in the unit of the setting.
struct Span {
  double low = 0;
  double high = 0;
};
// Draws a value whose logarithm is uniformly distributed. The result is rounded to 1e-6, so that it
// does not depend on the C library.
double draw_log_uniform(const Span& span, SeededDraws& draws);

// The time for which a link keeps a rate, and the rate as a factor of the link's own rate.
struct RateStep {
  Span seconds;
  Span factor;
};

struct NetworkSettings {
  SpanMs delay = {1, 4};
  SpanMs agent_delay = {};  // drawn once per agent; added to every message's delay
  double rate_mbit_s = 1000;
  // Drawn once per agent, log-uniform. Without them both directions have `rate_mbit_s`.
  std::optional<Span> rate_up_mbit_s = {};
  std::optional<Span> rate_down_mbit_s = {};
  std::vector<RateStep> rate_steps = {};  // repeated in this order; empty: constant rate
  // The trace of every link. Each agent starts at a different place in it.
  std::shared_ptr<const LinkTrace> trace = {};
  // A connection carries a stream, as TCP does: a partition delays data in flight and data that is
  // sent, and a new connection does not wait for the queue of the previous one.
  bool stream = false;
  // Whether any setting applies only to the links between agents and coordinator.
  bool of_agents() const {
    return rate_up_mbit_s || rate_down_mbit_s || !rate_steps.empty() || trace || stream ||
           agent_delay.high > 0;
  }
  double loss = 0;  // probabilities for each message
  double duplication = 0;
  double reordering = 0;
  double bit_flips = 0;

  // No file can set the following:
  SpanMs dial = {1, 20};  // time until an agent that starts or reconnects is connected
  // Probability that an end of a connection is informed when the connection ends. Otherwise it
  // notices by silence.
  double hang_up_noticed = 0.5;
  // False: a message may overtake earlier ones with a longer delay.
  bool ordered = true;
  // Probabilities that an end of a broken connection between agents is never informed, or late,
  // while faults are on.
  double peer_losses_missed = 0.15;
  double peer_losses_late = 0.15;
};

struct MachineSettings {
  SpanMs training = {5, 30};
  SpanMs disk = {0.2, 2};  // of a transaction
  std::uint32_t slow_agents =
      0;  // the last agents, whose trainings take `slow_factor` times as long
  double slow_factor = 10;
  // Every n-th agent trains ahead of the commit (AgentConfig::train_ahead); 0: none.
  std::uint32_t train_ahead_every = 2;
  std::uint32_t skewed_clocks = 0;  // agents whose clock does not run at the normal rate
  double clock_rate_min = 0.8;      // range of their clocks' rates
  double clock_rate_max = 1.25;
  Durability durability = Durability::round;  // of all journals
  double sync_s = 30;                         // time between two syncs with Durability::seconds_30
};

// The aggregator in the network, and the packets between it and the agents.
struct AggregatorSettings {
  std::uint32_t slots = 64;
  std::uint32_t packet_values = 0;  // most values in a packet; 0: 1024
  SpanMs delay = {0.2, 1};
  double loss = 0;  // probabilities for each packet
  double duplication = 0;
  double reordering = 0;
};

struct ScenarioJob {
  std::uint32_t buckets = 4;
  std::uint32_t bucket_values = 1024;
  std::string mode = "gradient";  // or "delta"
  // Below 1: after every round each agent is assigned a new share of the values that the codec
  // keeps, between this value and the codec's own share.
  double ratio_min = 1;
  RoundPolicy policy;
};

struct Scenario {
  std::string name;
  std::string about;
  std::uint32_t agents = 4;
  std::uint32_t rounds = 10;
  ScenarioJob job;
  NetworkSettings network;
  MachineSettings machines;
  AggregatorSettings aggregator;

  std::uint32_t faults_until_round = UINT32_MAX;  // counted in committed rounds
  double faults_until_s = 600;                    // faults stop at this virtual time at the latest
  std::array<IncidentPlan, kIncidents> incidents = {};

  // After the faults have stopped, every round must be committed within this time (s), and at the
  // end every agent must have the model.
  double progress_s = 60;

  bool by_peers() const { return job.policy.collective != wire::Collective::star; }
  bool in_network() const { return job.policy.collective == wire::Collective::in_network; }
  // Processes that connect to the coordinator. The aggregator's number follows those of the agents.
  std::uint32_t clients() const { return agents + (in_network() ? 1u : 0u); }
  std::uint64_t values() const { return std::uint64_t{job.buckets} * job.bucket_values; }
};

// `origin` names the text in errors, and the files that it names are looked up relative to it. Both
// return corrupt_data for text that is not TOML, and invalid_argument for a value out of range and
// for an unknown key, with the nearest known key. read_scenario() also returns not_found and
// io_error.
Result<Scenario> parse_scenario(std::string_view text, std::string_view origin);
Result<Scenario> read_scenario(const std::string& path);

}  // namespace tributary
