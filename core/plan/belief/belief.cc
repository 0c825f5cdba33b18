#include "core/plan/belief/belief.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/plan/belief/belief_parts.h"

namespace tributary {
namespace {

constexpr std::size_t kParticlesMax = 400;
constexpr std::size_t kParticlesMin = 48;
constexpr std::size_t kParticleLinksMax = 1u << 14;  // particles times agents

// Share by which a copy of a particle differs (Liu and West): variances stay as they are.
constexpr double kKernel = 0.2;

}  // namespace

using namespace belief_detail;

Belief::Draws Belief::draws(std::uint32_t use) const { return {seed_, step_, use}; }

Belief::Belief(std::uint64_t seed, const std::vector<PlanCodec>& codecs)
    : seed_(seed), codecs_(codecs.size()) {
  factors_.cpu.resize(codecs_);
  factors_.size.resize(codecs_);
  factors_.collective.resize(kCollectives.size());
  resize(kParticlesMax);
  Draws draw = draws(kUsePrior);
  for (std::size_t p = 0; p < particles_; ++p) {
    peers_.alpha[p] = draw.from(kPeerAlphaPrior);
    peers_.rate[p] = draw.from(kPeerRatePrior);
    peers_.shared[p] = draw.uniform() < kSharedPrior ? 1 : 0;
    factors_.hub[p] = draw.from(kHubPrior);
    factors_.overhead[p] = draw.from(kOverheadPrior);
    for (std::size_t k = 0; k < codecs_; ++k) {
      factors_.cpu[k][p] = draw.from(kCpuPrior);
      const bool varies = codecs[k].family == PlanFamily::fixed && codecs[k].gain < 1;
      factors_.size[k][p] = varies ? draw.from(kSizePrior) : 0;
    }
    for (std::size_t c = 0; c < factors_.collective.size(); ++c) {
      factors_.collective[c][p] = draw.from(c == 0 ? kStarPrior : kPeersPrior);
    }
  }
  Draws network = draws(kUseInNetwork);
  for (double& factor : factors_.in_network) factor = network.from(kPeersPrior);
}

// Whether agents share their links among themselves is not part of a world. Their network counts
// as one of its own until rounds show otherwise.
void Belief::restore(const std::vector<std::string>& agents, const std::vector<PlanWorld>& worlds) {
  set_agents(agents);
  if (worlds.empty()) return;
  for (std::size_t place = 0; place < codecs_ * kCollectives.size(); ++place) {
    factors_.pairs[place].assign(particles_, 0);
  }
  for (std::size_t p = 0; p < particles_; ++p) {
    const PlanWorld& world = worlds[p % worlds.size()];
    for (std::size_t i = 0; i < present_.size(); ++i) {
      present_[i]->alpha[p] = std::log(world.links[i].alpha_s);
      present_[i]->up[p] = std::log(world.links[i].rate.up);
      present_[i]->down[p] = std::log(world.links[i].rate.down);
    }
    peers_.shared[p] = 0;
    peers_.alpha[p] = std::log(world.peers.alpha_s);
    peers_.rate[p] = std::log(world.peers.beta_s_per_byte);
    factors_.hub[p] = std::log(world.hub_s_per_byte);
    factors_.overhead[p] = std::log(world.overhead_s);
    for (std::size_t k = 0; k < codecs_; ++k) {
      factors_.cpu[k][p] = std::log(world.cpu[k]);
      factors_.size[k][p] = std::log(world.size[k]);
    }
    for (Column& column : factors_.collective) column[p] = 0;
    for (auto& [place, column] : factors_.pairs) column[p] = std::log(world.times[place]);
    factors_.in_network[p] = std::log(world.in_network);
  }
  star_rounds_ = kFirstRounds;
  peers_seen_ = true;
}

// Agents that are absent keep their columns, because they may take part in the new job.
void Belief::continue_from(const Belief& other,
                           const std::vector<std::optional<std::size_t>>& codecs) {
  resize(other.particles_);
  step_ = other.step_;
  weights_ = other.weights_;
  agents_ = other.agents_;
  present_.clear();
  for (auto& [id, columns] : agents_) present_.push_back(&columns);
  peers_ = other.peers_;
  factors_.hub = other.factors_.hub;
  factors_.overhead = other.factors_.overhead;
  factors_.collective = other.factors_.collective;
  factors_.in_network = other.factors_.in_network;
  in_network_weighed_ = other.in_network_weighed_;
  star_rounds_ = other.star_rounds_;
  peers_seen_ = other.peers_seen_;
  factors_.pairs.clear();
  weighed_.clear();
  for (std::size_t k = 0; k < codecs_; ++k) {
    if (!codecs[k]) continue;
    factors_.cpu[k] = other.factors_.cpu[*codecs[k]];
    factors_.size[k] = other.factors_.size[*codecs[k]];
    for (const wire::Collective collective : kCollectives) {
      const std::size_t there = times_place(*codecs[k], collective);
      const auto pair = other.factors_.pairs.find(there);
      if (pair == other.factors_.pairs.end()) continue;
      factors_.pairs[times_place(k, collective)] = pair->second;
      if (other.weighed_.contains(there)) weighed_.insert(times_place(k, collective));
    }
  }
  // The weights belong to columns that this job may lack, so they become copies now.
  resample();
}

template <class Visit>
void Belief::visit_columns(const Visit& visit) {
  for (auto& [id, agent] : agents_) {
    visit(agent.alpha);
    visit(agent.up);
    visit(agent.down);
  }
  for (Column* column : {&peers_.alpha, &peers_.rate, &peers_.shared, &factors_.hub,
                         &factors_.overhead, &factors_.in_network})
    visit(*column);
  for (Column& column : factors_.cpu) visit(column);
  for (Column& column : factors_.size) visit(column);
  for (Column& column : factors_.collective) visit(column);
  for (auto& [place, column] : factors_.pairs) visit(column);
}

template <class Visit>
void Belief::visit_weighed_columns(const Visit& visit) {
  for (AgentColumns* agent : present_) {
    visit(agent->alpha);
    visit(agent->up);
    visit(agent->down);
  }
  visit(factors_.hub);
  visit(factors_.overhead);
  std::vector<bool> codecs(codecs_);
  std::array<bool, kCollectives.size()> collectives = {};
  for (const std::size_t place : weighed_) {
    codecs[place / kCollectives.size()] = true;
    collectives[place % kCollectives.size()] = true;
    visit(factors_.pairs.at(place));
  }
  for (std::size_t k = 0; k < codecs_; ++k) {
    if (!codecs[k]) continue;
    visit(factors_.cpu[k]);
    visit(factors_.size[k]);
  }
  bool peers = in_network_weighed_;
  if (in_network_weighed_) visit(factors_.in_network);
  for (std::size_t c = 0; c < collectives.size(); ++c) {
    if (!collectives[c]) continue;
    visit(factors_.collective[c]);
    peers |= kCollectives[c] != wire::Collective::star;
  }
  if (!peers) return;
  for (Column* column : {&peers_.alpha, &peers_.rate, &peers_.shared}) visit(*column);
}

// Fewer particles are the first ones, which are as good as any.
void Belief::resize(std::size_t particles) {
  particles_ = particles;
  visit_columns([particles](Column& column) { column.resize(particles); });
  weights_.assign(particles, 1.0 / static_cast<double>(particles));
}

Belief::AgentColumns Belief::drawn_agent(const Column& levels, Draws& draw) const {
  AgentColumns agent = {
      .alpha = Column(particles_), .up = Column(particles_), .down = Column(particles_)};
  for (std::size_t p = 0; p < particles_; ++p) {
    const double around =
        present_.empty() ? draw.from(kRatePrior) : levels[p] / static_cast<double>(present_.size());
    agent.alpha[p] = draw.from(kAlphaPrior);
    agent.up[p] = around + kAgentDeviation * draw.normal();
    agent.down[p] = agent.up[p] + kDownDeviation * draw.normal();
  }
  return agent;
}

void Belief::set_agents(const std::vector<std::string>& agents) {
  ++step_;
  const std::size_t most = kParticleLinksMax / std::max<std::size_t>(agents.size(), 1);
  const std::size_t particles = std::clamp(most, kParticlesMin, kParticlesMax);
  if (particles < particles_) {
    resample();
    resize(particles);
  }
  if (agents_.size() + agents.size() > 2 * kBeliefAgentsMax) agents_.clear();
  present_.clear();
  Draws draw = draws(kUsePrior);
  Column levels(particles_);
  for (const std::string& id : agents) {
    const auto known = agents_.find(id);
    AgentColumns& columns = known != agents_.end()
                                ? known->second
                                : agents_.emplace(id, drawn_agent(levels, draw)).first->second;
    present_.push_back(&columns);
    for (std::size_t p = 0; p < particles_; ++p) levels[p] += columns.up[p];
  }
}

double Belief::level(std::size_t particle) const {
  double sum = 0;
  for (const AgentColumns* agent : present_) sum += agent->up[particle];
  return sum / static_cast<double>(present_.size());
}

LinkEstimate Belief::peers_of(std::size_t particle, const PlanWorld::Link& slowest) const {
  if (peers_.shared[particle] > 0) {
    return {.alpha_s = 2 * slowest.alpha_s,
            .beta_s_per_byte = std::max(slowest.rate.up, slowest.rate.down)};
  }
  return {.alpha_s = std::exp(peers_.alpha[particle]),
          .beta_s_per_byte = std::exp(peers_.rate[particle])};
}

void Belief::fill_links(std::size_t particle, PlanWorld& world) const {
  world.links.resize(present_.size());
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const AgentColumns& agent = *present_[i];
    world.links[i] = {
        .alpha_s = std::exp(agent.alpha[particle]),
        .rate = {.up = std::exp(agent.up[particle]), .down = std::exp(agent.down[particle])}};
  }
  world.summarize();
}

void Belief::fill(std::size_t particle, PlanWorld& world) const {
  fill_links(particle, world);
  world.peers = peers_of(particle, world.slowest);
  world.hub_s_per_byte = std::exp(factors_.hub[particle]);
  world.overhead_s = std::exp(factors_.overhead[particle]);
  world.cpu.resize(codecs_);
  world.size.resize(codecs_);
  world.times.resize(codecs_ * kCollectives.size());
  std::array<double, kCollectives.size()> collectives;
  for (std::size_t c = 0; c < collectives.size(); ++c) {
    collectives[c] = std::exp(factors_.collective[c][particle]);
  }
  for (std::size_t k = 0; k < codecs_; ++k) {
    world.cpu[k] = std::exp(factors_.cpu[k][particle]);
    world.size[k] = std::exp(factors_.size[k][particle]);
    for (std::size_t c = 0; c < collectives.size(); ++c) {
      world.times[k * collectives.size() + c] = collectives[c];
    }
  }
  for (const auto& [place, column] : factors_.pairs)
    world.times[place] *= std::exp(column[particle]);
  world.in_network = std::exp(factors_.in_network[particle]);
}

// Systematic resampling: a particle that survives keeps its place, so that the pairing of its
// values with those of other columns stays.
std::vector<std::uint32_t> Belief::survivors(const std::vector<double>& weights,
                                             double place) const {
  std::vector<std::uint32_t> from(particles_, 0);
  std::vector<bool> taken(particles_, false);
  std::vector<std::uint32_t> copies;
  const double step =
      std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(particles_);
  double sum = 0;
  std::size_t at = 0;
  for (std::uint32_t p = 0; p < particles_; ++p) {
    sum += weights[p];
    while (at < particles_ && (static_cast<double>(at) + place) * step < sum) {
      if (taken[p]) {
        copies.push_back(p);
      } else {
        taken[p] = true;
        from[p] = p;
      }
      ++at;
    }
  }
  std::size_t next = 0;
  for (std::uint32_t p = 0; p < particles_; ++p) {
    if (!taken[p]) from[p] = next < copies.size() ? copies[next++] : from[p];
  }
  return from;
}

// Columns that no weighed round depends on stay as they are. Otherwise every copy would make their
// values fewer, until chance alone had decided what they are like.
void Belief::resample() {
  Draws draw = draws(kUseCopies);
  const std::vector<std::uint32_t> from = survivors(weights_, draw.uniform());
  const double keep = std::sqrt(1 - kKernel * kKernel);
  Column old;
  visit_weighed_columns([&](Column& column) {
    old = column;
    const bool flag = &column == &peers_.shared;
    double mean = 0;
    double square = 0;
    for (std::size_t p = 0; p < particles_; ++p) {
      column[p] = old[from[p]];
      mean += column[p];
      square += column[p] * column[p];
    }
    if (flag) return;
    mean /= static_cast<double>(particles_);
    const double variance = square / static_cast<double>(particles_) - mean * mean;
    const double deviation = std::sqrt(std::max(variance, 0.0));
    for (std::size_t p = 0; p < particles_; ++p) {
      if (from[p] == p) continue;
      column[p] = mean + keep * (column[p] - mean) + kKernel * deviation * draw.normal();
    }
  });
  weights_.assign(particles_, 1.0 / static_cast<double>(particles_));
  weighed_.clear();
  in_network_weighed_ = false;
}

std::vector<PlanWorld> Belief::worlds(std::size_t count) const {
  std::vector<PlanWorld> worlds;
  const double step = 1 / static_cast<double>(count);
  double sum = 0;
  for (std::size_t p = 0; p < particles_; ++p) {
    sum += weights_[p];
    while (worlds.size() < count &&
           (p + 1 == particles_ || (static_cast<double>(worlds.size()) + 0.5) * step < sum)) {
      PlanWorld& world = worlds.emplace_back();
      fill(p, world);
      const std::vector<int> logs = logs_of(world);
      world_of(logs, present_.size(), codecs_, world);
    }
  }
  return worlds;
}

}  // namespace tributary
