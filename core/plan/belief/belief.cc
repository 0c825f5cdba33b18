#include "core/plan/belief/belief.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/random.h"

namespace tributary {
namespace {

constexpr std::size_t kParticlesMax = 400;
constexpr std::size_t kParticlesMin = 48;
constexpr std::size_t kParticleLinksMax = 1u << 14;  // particles times agents

// The prior: means and standard deviations of logarithms.
struct Prior {
  double mean = 0;
  double deviation = 1;
};
const Prior kAlphaPrior = {std::log(0.01), 1};
const Prior kRatePrior = {std::log(4e-7), 1.6};  // 20 Mbit/s
const Prior kPeerAlphaPrior = {std::log(0.003), 1};
const Prior kPeerRatePrior = {std::log(2.7e-7), 1.5};  // 30 Mbit/s
const Prior kHubPrior = {std::log(4e-9), 0.8};         // 2 Gbit/s
const Prior kOverheadPrior = {std::log(0.005), 0.8};
constexpr Prior kCpuPrior = {0, 0.3};
constexpr Prior kSizePrior = {0, 0.15};
constexpr Prior kStarPrior = {0, 0.15};
constexpr Prior kPeersPrior = {0.15, 0.2};  // untried exchanges take longer more often than not
constexpr Prior kPairPrior = {0, 0.06};
constexpr double kAgentDeviation = 0.5;  // of an agent's rate from the level of all
constexpr double kDownDeviation = 0.4;   // of a downlink from its uplink
constexpr double kSharedPrior = 0.5;

// Mean times between jumps, in seconds.
constexpr double kUplinksJump_s = 25;
constexpr double kPeersJump_s = 40;
constexpr double kAgentJump_s = 150;
constexpr double kJumpProbabilityMax = 0.3;
// Shares of particles that try a jump. Their weights make up for the difference.
constexpr double kUplinksTry = 0.06;
constexpr double kPeersTry = 0.05;
constexpr double kAgentTry = 0.04;
// A jump goes halfway back to the mean of the prior.
constexpr double kJumpReturn = 0.5;
constexpr double kJumpDeviation = 1.3;
constexpr double kJumpMost = 6;

constexpr double kDrift = 0.015;       // of a link per round
constexpr double kRoundError = 0.06;   // of a round's exchange, a logarithm
constexpr double kReadingDrift = 0.1;  // of a link between two readings
// Shares of readings that waited for something else, and that mean nothing.
constexpr double kReadingWaits = 0.3;
constexpr double kReadingNonsense = 0.02;
constexpr double kReadingJumps = 0.03;
constexpr double kReadingRange = 20;
// The same for a first reading, and the standard deviation of its distance from the belief.
constexpr double kFirstJumps = 0.5;
constexpr double kFirstDeviation = 3;
// Share by which a copy of a particle differs (Liu and West): variances stay as they are.
constexpr double kKernel = 0.2;

double normal_density(double x, double deviation) {
  const double z = x / deviation;
  return std::exp(-z * z / 2) / (deviation * 2.5066282746310002);
}

// Student's t with three degrees of freedom.
double heavy_density(double x, double scale) {
  const double z = x / scale;
  const double base = 1 + z * z / 3;
  return 0.36755259694786135 / (scale * base * base);
}

bool usable(double value) { return std::isfinite(value) && value > 0; }

}  // namespace

// Numbers of one address, in order.
class Belief::Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t step, std::uint32_t use)
      : key_(key_of(philox4x32(
            {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), use,
             kBeliefDraws},
            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}))) {}
  double uniform() { return static_cast<double>(uniform_01(random_bits(key_, next_++))); }
  // Sum of four uniform values: nearly normal, at most 3.5 deviations, and the same everywhere.
  double normal() {
    const double a = uniform() + uniform();
    const double b = uniform() + uniform();
    return (a + b - 2) * 1.7320508075688772;
  }
  double from(const Prior& prior) { return prior.mean + prior.deviation * normal(); }

 private:
  // Separates these draws from those with another purpose.
  static constexpr std::uint32_t kBeliefDraws = 0x62656c66;
  static StreamKey key_of(const std::array<std::uint32_t, 4>& bits) { return {bits[0], bits[1]}; }

  StreamKey key_;
  std::uint32_t next_ = 0;
};

namespace {

// The uses of the draws of one step.
enum BeliefUse : std::uint32_t { kUsePrior, kUseDrift, kUseWeigh, kUseCopies, kUsePair, kUseRead };

}  // namespace

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
  }
  uplinks_seen_ = peers_seen_ = true;
}

template <class Visit>
void Belief::visit_columns(const Visit& visit) {
  for (auto& [id, agent] : agents_) {
    visit(agent.alpha);
    visit(agent.up);
    visit(agent.down);
  }
  for (Column* column :
       {&peers_.alpha, &peers_.rate, &peers_.shared, &factors_.hub, &factors_.overhead})
    visit(*column);
  for (Column& column : factors_.cpu) visit(column);
  for (Column& column : factors_.size) visit(column);
  for (Column& column : factors_.collective) visit(column);
  for (auto& [place, column] : factors_.pairs) visit(column);
}

// Fewer particles are the first ones, which are as good as any.
void Belief::resize(std::size_t particles) {
  particles_ = particles;
  visit_columns([particles](Column& column) { column.resize(particles); });
  weights_.assign(particles, 1.0 / static_cast<double>(particles));
}

Belief::AgentColumns Belief::drawn_agent(Draws& draw) const {
  AgentColumns agent = {
      .alpha = Column(particles_), .up = Column(particles_), .down = Column(particles_)};
  for (std::size_t p = 0; p < particles_; ++p) {
    const double around = present_.empty() ? draw.from(kRatePrior) : level(p);
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
  for (const std::string& id : agents) {
    const auto known = agents_.find(id);
    AgentColumns& columns = known != agents_.end()
                                ? known->second
                                : agents_.emplace(id, drawn_agent(draw)).first->second;
    present_.push_back(&columns);
  }
}

double Belief::level(std::size_t particle) const {
  double sum = 0;
  for (const AgentColumns* agent : present_) sum += agent->up[particle];
  return sum / static_cast<double>(present_.size());
}

void Belief::fill(std::size_t particle, PlanWorld& world) const {
  world.links.resize(present_.size());
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const AgentColumns& agent = *present_[i];
    world.links[i] = {
        .alpha_s = std::exp(agent.alpha[particle]),
        .rate = {.up = std::exp(agent.up[particle]), .down = std::exp(agent.down[particle])}};
  }
  world.summarize();
  const PlanWorld::Link& slowest = world.slowest;
  if (peers_.shared[particle] > 0) {
    world.peers = {.alpha_s = 2 * slowest.alpha_s,
                   .beta_s_per_byte = std::max(slowest.rate.up, slowest.rate.down)};
  } else {
    world.peers = {.alpha_s = std::exp(peers_.alpha[particle]),
                   .beta_s_per_byte = std::exp(peers_.rate[particle])};
  }
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
}

void Belief::drift() {
  Draws draw = draws(kUseDrift);
  for (std::size_t p = 0; p < particles_; ++p) {
    const double all = kDrift * draw.normal();
    for (AgentColumns* agent : present_) {
      agent->up[p] += all + kDrift * draw.normal();
      agent->down[p] += all + kDrift * draw.normal();
      agent->alpha[p] += kDrift * draw.normal();
    }
    peers_.rate[p] += kDrift * draw.normal();
    peers_.alpha[p] += kDrift * draw.normal();
  }
}

void Belief::move(std::size_t particle, const Jump& jump, double by) {
  switch (jump.event) {
    case Event::none:
      return;
    case Event::uplinks:
      for (AgentColumns* agent : present_) {
        agent->up[particle] += by;
        agent->down[particle] += by;
      }
      return;
    case Event::one_agent:
      present_[jump.agent]->up[particle] += by;
      present_[jump.agent]->down[particle] += by;
      return;
    case Event::peers:
      peers_.rate[particle] += by;
      return;
  }
}

Belief::Jump Belief::drawn_jump(std::size_t particle, bool peers, double elapsed_s,
                                double& log_weight, Draws& draw) const {
  const auto within = [elapsed_s](double mean_s) {
    return std::min(1 - std::exp(-elapsed_s / mean_s), kJumpProbabilityMax);
  };
  const bool alone = peers_.shared[particle] > 0;
  const double uplinks = within(kUplinksJump_s);
  const double one = present_.size() > 1 ? within(kAgentJump_s) : 0;
  const double of_peers = within(kPeersJump_s);
  const double uplinks_try = kUplinksTry;
  const double one_try = present_.size() > 1 ? kAgentTry : 0;
  const double peers_try = peers && !alone ? kPeersTry : of_peers;
  const double at = draw.uniform();
  const double back = kRatePrior.mean - level(particle);
  if (!uplinks_seen_ && !peers) {
    return {.event = Event::uplinks, .mean = back, .deviation = kRatePrior.deviation};
  }
  if (!peers_seen_ && peers && !alone) {
    return {.event = Event::peers,
            .mean = kPeerRatePrior.mean - peers_.rate[particle],
            .deviation = kPeerRatePrior.deviation};
  }
  if (at < uplinks_try) {
    log_weight += std::log(uplinks / uplinks_try);
    return {.event = Event::uplinks, .mean = kJumpReturn * back, .deviation = kJumpDeviation};
  }
  if (at < uplinks_try + one_try) {
    log_weight += std::log(one / one_try);
    const auto agent =
        static_cast<std::size_t>(draw.uniform() * static_cast<double>(present_.size()));
    return {.event = Event::one_agent,
            .agent = std::min(agent, present_.size() - 1),
            .deviation = kJumpDeviation};
  }
  if (at < uplinks_try + one_try + peers_try) {
    log_weight += std::log(of_peers / peers_try);
    return {.event = Event::peers,
            .mean = kJumpReturn * (kPeerRatePrior.mean - peers_.rate[particle]),
            .deviation = kJumpDeviation};
  }
  log_weight += std::log((1 - uplinks - one - of_peers) / (1 - uplinks_try - one_try - peers_try));
  return {};
}

// A particle that tries a jump takes the one that explains the measured time. Its weight is the
// probability of the time under the prior of the jump.
double Belief::weigh(std::size_t particle, const PlanPredictor& predictor,
                     const PreparedExchange& exchange, double measured_log, const Jump& jump,
                     Draws& draw) {
  PlanWorld world;
  double at = 0;
  // The difference to the measured logarithm if the jump has this size.
  const auto error = [&](double by) {
    move(particle, jump, by - at);
    at = by;
    fill(particle, world);
    return std::log(predictor.exchange_s(exchange, world)) - measured_log;
  };
  if (jump.event == Event::none) return std::log(heavy_density(error(0), kRoundError));
  double low = std::max(jump.mean - 3 * jump.deviation, -kJumpMost);
  double high = std::min(jump.mean + 3 * jump.deviation, kJumpMost);
  double low_error = error(low);
  double high_error = error(high);
  const double z = draw.normal();
  if (!(low_error < 0 && high_error > 0)) {
    const double by = std::clamp(jump.mean + jump.deviation * z, low, high);
    return std::log(heavy_density(error(by), kRoundError));
  }
  double slope = (high_error - low_error) / (high - low);
  for (int i = 0; i < 9 && high - low > 0.01; ++i) {
    // A secant that never goes near an end: times are convex in the size of the jump.
    const double secant = (low * high_error - high * low_error) / (high_error - low_error);
    const double middle =
        i % 2 == 0 ? (low + high) / 2
                   : std::clamp(secant, low + 0.1 * (high - low), high - 0.1 * (high - low));
    const double middle_error = error(middle);
    (middle_error < 0 ? low : high) = middle;
    (middle_error < 0 ? low_error : high_error) = middle_error;
    slope = (high_error - low_error) / (high - low);
  }
  const double best = (low + high) / 2;
  slope = std::max(slope, 0.05);
  const double density = normal_density(best - jump.mean, jump.deviation) / slope;
  const double by = best + std::min(kRoundError / slope, 1.0) * z;
  move(particle, jump, by - at);
  return std::log(density);
}

void Belief::saw_round(const PlanPredictor& predictor, const PreparedExchange& exchange,
                       double exchange_s, double elapsed_s) {
  ++step_;
  drift();
  if (!usable(exchange_s) || !usable(elapsed_s)) return;
  const bool peers = exchange.collective != wire::Collective::star;
  const std::size_t place = times_place(exchange.codec, exchange.collective);
  if (!factors_.pairs.contains(place)) {
    Column& column = factors_.pairs[place];
    Draws draw = draws(kUsePair);
    for (std::size_t p = 0; p < particles_; ++p) column.push_back(draw.from(kPairPrior));
  }
  Draws draw = draws(kUseWeigh);
  std::vector<double> logs(particles_);
  for (std::size_t p = 0; p < particles_; ++p) {
    double log_weight = std::log(weights_[p]);
    const Jump jump = drawn_jump(p, peers, elapsed_s, log_weight, draw);
    if (jump.event == Event::peers) peers_.alpha[p] += 0.7 * draw.normal();
    if (jump.event == Event::peers && (!peers || peers_.shared[p] > 0)) {
      // Nothing in this round depends on it.
      const double by = jump.mean + jump.deviation * draw.normal();
      log_weight += weigh(p, predictor, exchange, std::log(exchange_s), {}, draw);
      move(p, jump, by);
    } else {
      log_weight += weigh(p, predictor, exchange, std::log(exchange_s), jump, draw);
    }
    logs[p] = log_weight;
  }
  const double most = *std::ranges::max_element(logs);
  double sum = 0;
  double squares = 0;
  for (std::size_t p = 0; p < particles_; ++p) {
    weights_[p] = std::max(std::exp(logs[p] - most), 1e-100);
    sum += weights_[p];
  }
  for (double& weight : weights_) {
    weight /= sum;
    squares += weight * weight;
  }
  uplinks_seen_ |= !peers;
  peers_seen_ |= peers;
  if (1 / squares < static_cast<double>(particles_) / 2) resample();
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

void Belief::resample() {
  Draws draw = draws(kUseCopies);
  const std::vector<std::uint32_t> from = survivors(weights_, draw.uniform());
  const double keep = std::sqrt(1 - kKernel * kKernel);
  Column old;
  visit_columns([&](Column& column) {
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
}

// Each particle explains the reading in one of four ways: the link is as believed, it has changed,
// the reading waited for something else, or it means nothing.
void Belief::see(Column& column, double value, double error, std::uint32_t use, bool first) {
  if (!usable(value) || !(error >= 0) || error > 3) return;
  ++step_;
  Draws draw = draws(kUseRead + use);
  const double jumps = first ? kFirstJumps : kReadingJumps;
  const double deviation = first ? kFirstDeviation : kJumpDeviation;
  const double y = std::log(value);
  const double scale = std::max(error, 0.03);
  std::vector<double> weights(particles_);
  const double gain =
      kReadingDrift * kReadingDrift / (kReadingDrift * kReadingDrift + scale * scale);
  for (std::size_t p = 0; p < particles_; ++p) {
    const double off = y - column[p];
    const double same = (1 - kReadingWaits - kReadingNonsense - jumps) * heavy_density(off, scale);
    const double jumped = jumps * normal_density(off, deviation);
    const double other = kReadingNonsense / kReadingRange +
                         (off > 0 ? kReadingWaits * std::exp(-off / 1.5) / 1.5 : 0);
    weights[p] = same + jumped + other;
    const double at = draw.uniform() * weights[p];
    const double z = draw.normal();
    if (at < same) {
      column[p] += gain * (off + scale * z);
    } else if (at < same + jumped) {
      column[p] = y + scale * z;
    }
  }
  const std::vector<std::uint32_t> from = survivors(weights, draw.uniform());
  const Column old = column;
  for (std::size_t p = 0; p < particles_; ++p) column[p] = old[from[p]];
}

void Belief::saw_latency(const std::string& agent, double seconds, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    see(found->second.alpha, seconds, error, 0);
  }
}
void Belief::saw_uplink(const std::string& agent, double s_per_byte, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    see(found->second.up, s_per_byte, error, 1);
  }
}
void Belief::saw_downlink(const std::string& agent, double s_per_byte, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    see(found->second.down, s_per_byte, error, 2, !found->second.down_read);
    found->second.down_read = true;
  }
}
void Belief::saw_peer_latency(double seconds, double error) {
  see(peers_.alpha, seconds, error, 3);
}
void Belief::saw_peer_rate(double s_per_byte, double error) {
  see(peers_.rate, s_per_byte, error, 4);
}

// Sizes are counted, so the value replaces what was believed.
void Belief::saw_size(std::size_t codec, double factor) {
  if (codec >= codecs_ || !usable(factor)) return;
  ++step_;
  Draws draw = draws(kUseRead);
  for (double& size : factors_.size[codec]) size = std::log(factor) + 0.01 * draw.normal();
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
