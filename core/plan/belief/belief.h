// The belief of a planner about links, overhead and the errors of the cost model: a particle filter
// over their logarithms.
//
// Each particle is one PlanWorld. Links drift, and sometimes jump; factors stay. A round's exchange
// time weighs all particles by the cost model. A reading of one link changes the values of that
// link only, so an agent that reports nonsense cannot move another agent's link. Every random
// number is a function of the seed and of its address, so the same observations give the same
// belief. Memory is bounded by kBeliefBytesMax for up to kBeliefAgentsMax agents. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/plan/inputs/world.h"
#include "core/plan/search/predict.h"

namespace tributary {

inline constexpr std::size_t kBeliefAgentsMax = 4096;
inline constexpr std::size_t kBeliefBytesMax = 4u << 20;

class Belief {
 public:
  Belief(std::uint64_t seed, const std::vector<PlanCodec>& codecs);
  // The participants are pointers to columns, which a copy would not own.
  Belief(const Belief&) = delete;
  Belief& operator=(const Belief&) = delete;
  Belief(Belief&&) = default;
  Belief& operator=(Belief&&) = default;

  // Sets the participants, in the order of the worlds. A new agent's links are drawn around those
  // of the others.
  void set_agents(const std::vector<std::string>& agents);

  // Begins anew from the worlds of an earlier decision.
  void restore(const std::vector<std::string>& agents, const std::vector<PlanWorld>& worlds);

  // Begins anew from what another job's belief knows about the same machines: links, overhead, and
  // the factors of collectives; and of each codec for which `codecs` names its index there, its
  // factors alone and with each collective. Codecs without an index are as before any round.
  // Requires an index or nothing for each codec.
  void continue_from(const Belief& other, const std::vector<std::optional<std::size_t>>& codecs);

  // A reading of one link, with its standard error as a share of the value. Values that are not
  // finite or not above 0 are ignored. A latency or a rate may have waited for something else, so
  // a value above the belief says less than one below.
  void saw_latency(const std::string& agent, double seconds, double error);
  void saw_uplink(const std::string& agent, double s_per_byte, double error);
  void saw_downlink(const std::string& agent, double s_per_byte, double error);
  void saw_peer_latency(double seconds, double error);
  void saw_peer_rate(double s_per_byte, double error);
  // Payloads of a codec had this factor of their expected size.
  void saw_size(std::size_t codec, double factor);

  // A round took `elapsed_s`, and its exchange took `exchange_s`. `predictor` must be for the
  // agents and codecs of this belief.
  void saw_round(const PlanPredictor& predictor, const PreparedExchange& exchange,
                 double exchange_s, double elapsed_s);

  // A round among peers that was seen had these parts: the exchange by the agents' network, and the
  // upload by their uplinks.
  void saw_parts(const PlanPredictor& predictor, const PreparedExchange& exchange,
                 const ExchangeParts& parts, double elapsed_s);

  // Returns `count` particles of equal probability, rounded as logs_of() keeps them.
  std::vector<PlanWorld> worlds(std::size_t count) const;

  std::size_t particles() const { return particles_; }

 private:
  using Column = std::vector<double>;  // a logarithm, by particle
  struct AgentColumns {
    Column alpha;
    Column up;
    Column down;
    bool down_read = false;
  };
  struct PeerColumns {
    Column alpha;
    Column rate;
    Column shared;  // above 0: agents reach one another over their uplinks and downlinks
  };
  struct FactorColumns {
    Column hub;
    Column overhead;
    std::vector<Column> cpu;  // by codec
    std::vector<Column> size;
    std::vector<Column> collective;
    std::map<std::size_t, Column> pairs;  // by times_place(), of choices that were used
    Column in_network;
  };
  enum class Event : std::uint8_t { none, uplinks, one_agent, peers, overhead };
  // A change that a particle tries.
  struct Jump {
    Event event = Event::none;
    std::size_t agent = 0;
    double mean = 0;  // of the prior of its size, a logarithm
    double deviation = 1;
    bool anew = false;  // as if this were the first round
  };
  // A value with its standard error, a share of it, and the use of its draws.
  struct Reading {
    double value = 0;
    double error = 0;
    std::uint32_t use = 0;
    bool first = false;  // of this link; it may be far from the belief

    bool usable() const;
  };
  // A measured time of an exchange, or of a part of it.
  struct Timed {
    enum class Part : std::uint8_t { all, exchange, upload };
    const PlanPredictor& predictor;
    const PreparedExchange& exchange;
    double seconds_log = 0;
    double error = 0;  // standard error of the logarithm
    Part part = Part::all;

    double predicted_s(const PlanWorld& world) const;
  };
  class Draws;

  Draws draws(std::uint32_t use) const;
  void resize(std::size_t particles);
  // `levels` is the sum of the rates of the agents that are present, by particle.
  AgentColumns drawn_agent(const Column& levels, Draws& draws) const;
  void drift();
  double level(std::size_t particle) const;
  void fill_links(std::size_t particle, PlanWorld& world) const;
  void fill(std::size_t particle, PlanWorld& world) const;
  void move(std::size_t particle, const Jump& jump, double by);
  void separate(std::size_t particle);
  // Returns the logarithm of the particle's new weight, relative to its old one.
  double weigh(std::size_t particle, const Timed& timed, const Jump& jump, Draws& draws);
  // Multiplies the weights, and resamples if few particles have most of it.
  void take_weights(const std::vector<double>& logs, const PreparedExchange& exchange);
  bool depends(std::size_t particle, Event event, Timed::Part part) const;
  Jump drawn_jump(std::size_t particle, bool peers, double elapsed_s, double& log_weight,
                  Draws& draws) const;
  void see(Column& column, const Reading& reading);
  // Moves `values` to a reading, and returns the particles that replace those of each place.
  std::vector<std::uint32_t> explain(Column& values, const Reading& reading);
  std::vector<std::uint32_t> survivors(const std::vector<double>& weights, double place) const;
  // The agents' network in a particle: its own, or what uplinks and downlinks make of it.
  LinkEstimate peers_of(std::size_t particle, const PlanWorld::Link& slowest) const;
  void see_peers(Column& column, double LinkEstimate::*quantity, const Reading& reading);
  void resample();
  template <class Visit>
  void visit_columns(const Visit& visit);
  // Visits the columns that the weights say something about.
  template <class Visit>
  void visit_weighed_columns(const Visit& visit);

  std::uint64_t seed_;
  std::size_t codecs_;
  std::uint64_t step_ = 0;  // part of every address
  std::size_t particles_ = 0;
  std::map<std::string, AgentColumns, std::less<>> agents_;
  std::vector<AgentColumns*> present_;
  PeerColumns peers_;
  FactorColumns factors_;
  std::vector<double> weights_;  // sum 1
  int star_rounds_ = 0;          // that were seen, up to kFirstRounds
  bool peers_seen_ = false;
  // times_place() of the rounds since the last resampling, and whether one was in_network.
  std::set<std::size_t> weighed_;
  bool in_network_weighed_ = false;
};

}  // namespace tributary
