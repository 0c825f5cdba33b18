// What is simulated: how many agents and rounds, the job, the machines and links, and what goes
// wrong. Read from a TOML file; docs/simulation.md tells how to write one.
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

namespace tributary {

// What happens to one machine or link at one time, a stated number of times in a run.
enum class Incident : std::uint8_t {
  agent_kill,        // between any two actions; what was written to disk stays
  agent_power_cut,   // in the midst of any write or sync
  coordinator_kill,  //
  coordinator_power_cut,
  kill_before_publish,  // the coordinator, when a commit is in the journal and not yet published
  partition,            // some agents are cut off
  slow_link,            // delays of up to a second
  agent_leave,          // says goodbye, and comes back
  late_join,            // an agent that is not there at first
  straggler,            // trains far longer than the deadline
  training_failure,     //
  disk_full,            // of an agent or the coordinator
  disk_failure,         // writes and syncs fail now and then
  lying_agent,          // sends frames that lie about sizes
  garbage,              // strangers and agents send noise
  twin_agent,           // a second process with the same identity says Hello
  replay,               // what was sent long ago comes again
  peer_break,           // some connections between agents break
  lying_peer,           // what an agent sends to its peers has wrong bits
};
inline constexpr std::size_t kIncidents = 19;
std::string_view name(Incident incident);

// Times in milliseconds, from the lower to the higher.
struct SpanMs {
  double low = 0;
  double high = 0;
};
TimeNs draw_ns(const SpanMs& span, SeededDraws& draws);

struct IncidentPlan {
  std::uint32_t count = 0;
  SpanMs duration;
};

// From the lower to the higher; the unit is the key's.
struct Span {
  double low = 0;
  double high = 0;
};
// A factor of 10 is as likely at either end. Rounded to 1e-6, so that the C library does not
// matter.
double draw_log_uniform(const Span& span, SeededDraws& draws);

// How long a link keeps a rate, and that rate as a factor of its own.
struct RateStep {
  Span seconds;
  Span factor;
};

struct NetworkSettings {
  SpanMs delay = {1, 4};
  SpanMs agent_delay = {};  // drawn once for each agent, and added to every message's delay
  double rate_mbit_s = 1000;
  // Drawn once for each agent, log-uniform. Without them both directions have `rate_mbit_s`.
  std::optional<Span> rate_up_mbit_s = {};
  std::optional<Span> rate_down_mbit_s = {};
  std::vector<RateStep> rate_steps = {};  // in turn, again and again; none: the rate is constant
  std::shared_ptr<const LinkTrace> trace = {};  // of every link; each agent starts somewhere in it
  // A connection carries a stream, as TCP does: a partition holds up what is under way and what is
  // sent, and a new connection does not wait for what the old one had queued.
  bool stream = false;
  // Whether any setting is only for the links between agents and coordinator.
  bool of_agents() const {
    return rate_up_mbit_s || rate_down_mbit_s || !rate_steps.empty() || trace || stream ||
           agent_delay.high > 0;
  }
  double loss = 0;  // probabilities, of each message
  double duplication = 0;
  double reordering = 0;
  double bit_flips = 0;

  // What no file sets:
  SpanMs dial = {1, 20};  // until an agent that starts or redials is connected
  // How likely an end of a connection learns that it is gone, other than by silence.
  double told_of_hang_up = 0.5;
  // False: a message overtakes those with a longer delay.
  bool ordered = true;
  // Of the ends of a connection between agents that broke while there are faults, so many learn it
  // never, or late.
  double peers_not_told = 0.15;
  double peers_told_late = 0.15;
};

struct MachineSettings {
  SpanMs training = {5, 30};
  SpanMs disk = {0.2, 2};           // of a transaction
  std::uint32_t skewed_clocks = 0;  // agents whose clock does not run as others do
  double clock_rate_min = 0.8;      // of theirs
  double clock_rate_max = 1.25;
};

struct ScenarioJob {
  std::uint32_t buckets = 4;
  std::uint32_t bucket_values = 1024;
  std::string mode = "gradient";  // or "delta"
  // Below 1: after every round each agent is told to keep another share of the codec's values, from
  // this to all that the codec keeps.
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

  std::uint32_t faults_until_round = UINT32_MAX;  // of those that are committed
  double faults_until_s = 600;                    // at the latest
  std::array<IncidentPlan, kIncidents> incidents = {};

  // Once faults have stopped, a round must be committed in so much time, and at the end every agent
  // must have the model.
  double progress_s = 60;

  bool by_peers() const { return job.policy.collective != wire::Collective::star; }
  std::uint64_t values() const { return std::uint64_t{job.buckets} * job.bucket_values; }
};

// `origin` names the text in errors, and files are sought beside it. Unknown keys are refused with
// the nearest known name.
Result<Scenario> parse_scenario(std::string_view text, std::string_view origin);
Result<Scenario> read_scenario(const std::string& path);

}  // namespace tributary
