#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/belief/belief_parts.h"

namespace tributary {
namespace {

// Mean times between jumps, in seconds; kLinksStay_s is that of all uplinks.
constexpr double kPeersJump_s = 40;
// Probability, relative to it, that agents that were believed to share their uplinks do not.
constexpr double kUnshared = 0.1;
constexpr double kAgentJump_s = 150;
constexpr double kJumpProbabilityMax = 0.3;
// Shares of particles that try a jump. Their weights make up for the difference.
constexpr double kUplinksTry = 0.06;
constexpr double kPeersTry = 0.05;
constexpr double kAgentTry = 0.04;
// Probability that the first rounds were slow for reasons of their own, and share of particles that
// try it.
constexpr double kFirstWrong = 0.15;
constexpr double kFirstWrongTry = 0.5;
// A jump goes halfway back to the mean of the prior.
constexpr double kJumpReturn = 0.5;
// A jump goes at most so far, also in standard deviations of its prior: a link may be far from what
// was expected.
constexpr double kJumpMost = 8;
constexpr double kJumpDeviations = 5;

constexpr double kDrift = 0.015;      // of a link per round
constexpr double kRoundError = 0.06;  // of a round's exchange, a logarithm
// The same of its parts. Agents are not ready at the same time, by this share of the exchange.
constexpr double kExchangePartError = 0.12;
constexpr double kUploadPartError = 0.25;
constexpr double kReadyShare = 0.1;
constexpr double kPartErrorMax = 3;

constexpr double kReadingDrift = 0.1;  // of a link between two readings
// Shares of readings that waited for something else, and that mean nothing.
constexpr double kReadingWaits = 0.3;
constexpr double kReadingNonsense = 0.02;
constexpr double kReadingJumps = 0.03;
constexpr double kReadingRange = 20;
// The same for a first reading, and the standard deviation of its distance from the belief.
constexpr double kFirstJumps = 0.5;
constexpr double kFirstDeviation = 3;

}  // namespace

using namespace belief_detail;

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
    case Event::overhead:
      factors_.overhead[particle] += by;
      return;
  }
}

Belief::Jump Belief::drawn_jump(std::size_t particle, bool peers, double elapsed_s,
                                double& log_weight, Draws& draw) const {
  const auto within = [elapsed_s](double mean_s) {
    return std::min(1 - std::exp(-elapsed_s / mean_s), kJumpProbabilityMax);
  };
  const bool shared = peers_.shared[particle] > 0;
  const bool early = !peers && star_rounds_ < kFirstRounds;
  const double uplinks = early ? kFirstWrong : within(kLinksStay_s);
  const double one = present_.size() > 1 ? within(kAgentJump_s) : 0;
  const double of_peers = within(kPeersJump_s) * (shared ? kUnshared : 1);
  const double uplinks_try = early ? kFirstWrongTry : kUplinksTry;
  const double one_try = present_.size() > 1 ? kAgentTry : 0;
  const double peers_try = peers ? kPeersTry : of_peers;
  const double at = draw.uniform();
  const auto back = [&] { return kRatePrior.mean - level(particle); };
  // Links as the prior has them with the overhead that explains the round, or the reverse.
  const auto anew = [&]() -> Jump {
    if (draw.uniform() < 0.5)
      return {.event = Event::uplinks, .mean = back(), .deviation = kRatePrior.deviation};
    return {.event = Event::overhead,
            .mean = kOverheadPrior.mean - factors_.overhead[particle],
            .deviation = kOverheadPrior.deviation};
  };
  if (!peers && star_rounds_ == 0) return anew();
  if (peers && !shared && !peers_seen_) {
    return {.event = Event::peers,
            .mean = kPeerRatePrior.mean - peers_.rate[particle],
            .deviation = kPeerRatePrior.deviation};
  }
  if (at < uplinks_try) {
    log_weight += std::log(uplinks / uplinks_try);
    if (early) {
      Jump jump = anew();
      jump.anew = true;
      return jump;
    }
    return {.event = Event::uplinks, .mean = kJumpReturn * back(), .deviation = kJumpDeviation};
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
            .mean = kJumpReturn *
                    (kPeerRatePrior.mean - (shared ? level(particle) : peers_.rate[particle])),
            .deviation = kJumpDeviation};
  }
  log_weight += std::log((1 - uplinks - one - of_peers) / (1 - uplinks_try - one_try - peers_try));
  return {};
}

// A particle that tries a jump takes the one that explains the measured time. Its weight is the
// probability of the time under the prior of the jump.
double Belief::weigh(std::size_t particle, const Timed& timed, const Jump& jump, Draws& draw) {
  PlanWorld world;
  double at = 0;
  // The difference to the measured logarithm if the jump has this size.
  const auto error = [&](double by) {
    move(particle, jump, by - at);
    at = by;
    fill(particle, world);
    return std::log(timed.predicted_s(world)) - timed.seconds_log;
  };
  // An agent may wait for longer than its upload takes, but not for less.
  const bool upload = timed.part == Timed::Part::upload;
  const auto density_log = [&](double off) {
    const double scale = upload && off > 0 ? kUploadPartError : timed.error;
    return std::log(heavy_density(off / scale, 1) / timed.error);
  };
  if (jump.event == Event::none) return density_log(error(0));
  double low = std::max(jump.mean - kJumpDeviations * jump.deviation, -kJumpMost);
  double high = std::min(jump.mean + kJumpDeviations * jump.deviation, kJumpMost);
  double low_error = error(low);
  double high_error = error(high);
  const double z = draw.normal();
  if (!(low_error < 0 && high_error > 0)) {
    const double by = std::clamp(jump.mean + jump.deviation * z, low, high);
    return density_log(error(by));
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
  const double by = best + std::min(timed.error / slope, 1.0) * z;
  move(particle, jump, by - at);
  return std::log(density);
}

void Belief::saw_round(const PlanPredictor& predictor, const PreparedExchange& exchange,
                       double exchange_s, double elapsed_s) {
  ++step_;
  drift();
  if (!usable(exchange_s) || !usable(elapsed_s)) return;
  const bool peers = exchange.collective != wire::Collective::star;
  const bool in_network = exchange.collective == wire::Collective::in_network;
  const std::size_t place = in_network ? 0 : times_place(exchange.codec, exchange.collective);
  if (!in_network && !factors_.pairs.contains(place)) {
    Column& column = factors_.pairs[place];
    Draws draw = draws(kUsePair);
    for (std::size_t p = 0; p < particles_; ++p) column.push_back(draw.from(kPairPrior));
  }
  Draws draw = draws(kUseWeigh);
  const Timed timed = {.predictor = predictor,
                       .exchange = exchange,
                       .seconds_log = std::log(exchange_s),
                       .error = kRoundError};
  std::vector<double> logs(particles_);
  for (std::size_t p = 0; p < particles_; ++p) {
    double log_weight = std::log(weights_[p]);
    const Jump jump = drawn_jump(p, peers, elapsed_s, log_weight, draw);
    if (jump.event == Event::peers) {
      separate(p);
      peers_.alpha[p] += 0.7 * draw.normal();
    }
    // Without this the particle would keep the links, or the overhead, that explained an earlier
    // round, and only the other one would begin anew.
    if (jump.anew && jump.event == Event::uplinks) {
      factors_.overhead[p] = draw.from(kOverheadPrior);
    } else if (jump.anew) {
      move(p, {.event = Event::uplinks}, draw.from(kRatePrior) - level(p));
    }
    if (jump.event == Event::peers && !peers) {
      // Nothing in this round depends on it.
      const double by = jump.mean + jump.deviation * draw.normal();
      log_weight += weigh(p, timed, {}, draw);
      move(p, jump, by);
    } else {
      log_weight += weigh(p, timed, jump, draw);
    }
    logs[p] = log_weight;
  }
  if (!peers) star_rounds_ = std::min(star_rounds_ + 1, kFirstRounds);
  peers_seen_ |= peers;
  take_weights(logs, exchange);
}

bool Belief::depends(std::size_t particle, Event event, Timed::Part part) const {
  if (event == Event::peers) return part == Timed::Part::exchange;
  return event != Event::none && (part == Timed::Part::upload || peers_.shared[particle] > 0);
}

// From now on the agents have a network of their own, which is as their links were.
void Belief::separate(std::size_t particle) {
  if (peers_.shared[particle] <= 0) return;
  PlanWorld world;
  fill_links(particle, world);
  const LinkEstimate peers = peers_of(particle, world.slowest);
  peers_.alpha[particle] = std::log(peers.alpha_s);
  peers_.rate[particle] = std::log(peers.beta_s_per_byte);
  peers_.shared[particle] = 0;
}

// Each part is an observation of its own, which a particle may explain by a jump that the round did
// not show: two changes at the same time are told apart.
void Belief::saw_parts(const PlanPredictor& predictor, const PreparedExchange& exchange,
                       const ExchangeParts& parts, double elapsed_s) {
  if (!usable(parts.exchange_s) || !usable(parts.upload_s) || !usable(elapsed_s)) return;
  const double ready = kReadyShare * parts.exchange_s / parts.upload_s;
  for (const auto part : {Timed::Part::exchange, Timed::Part::upload}) {
    ++step_;
    Draws draw = draws(kUseWeigh);
    const bool upload = part == Timed::Part::upload;
    const Timed timed = {.predictor = predictor,
                         .exchange = exchange,
                         .seconds_log = std::log(upload ? parts.upload_s : parts.exchange_s),
                         .error = upload
                                      ? std::min(std::hypot(kUploadPartError, ready), kPartErrorMax)
                                      : kExchangePartError,
                         .part = part};
    std::vector<double> logs(particles_);
    for (std::size_t p = 0; p < particles_; ++p) {
      double jump_log = 0;
      Jump jump = drawn_jump(p, true, elapsed_s, jump_log, draw);
      if (!depends(p, jump.event, part)) {
        jump = {};
        jump_log = 0;
      }
      if (jump.event == Event::peers) separate(p);
      logs[p] = std::log(weights_[p]) + jump_log + weigh(p, timed, jump, draw);
    }
    take_weights(logs, exchange);
  }
}

double Belief::Timed::predicted_s(const PlanWorld& world) const {
  const ExchangeParts parts = predictor.parts_s(exchange, world);
  switch (part) {
    case Part::exchange:
      return parts.exchange_s;
    case Part::upload:
      return parts.upload_s;
    case Part::all:
      break;
  }
  return parts.exchange_s + parts.upload_s;
}

void Belief::take_weights(const std::vector<double>& logs, const PreparedExchange& exchange) {
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
  if (exchange.collective == wire::Collective::in_network) {
    in_network_weighed_ = true;
  } else {
    weighed_.insert(times_place(exchange.codec, exchange.collective));
  }
  if (1 / squares < static_cast<double>(particles_) / 2) {
    resample();
  }
}

bool Belief::Reading::usable() const {
  return belief_detail::usable(value) && error >= 0 && error <= 3;
}

// Each particle explains the reading in one of four ways: the link is as believed, it has changed,
// the reading waited for something else, or it means nothing.
std::vector<std::uint32_t> Belief::explain(Column& values, const Reading& reading) {
  ++step_;
  Draws draw = draws(kUseRead + reading.use);
  const double jumps = reading.first ? kFirstJumps : kReadingJumps;
  const double deviation = reading.first ? kFirstDeviation : kJumpDeviation;
  const double y = std::log(reading.value);
  const double scale = std::max(reading.error, 0.03);
  std::vector<double> weights(particles_);
  const double gain =
      kReadingDrift * kReadingDrift / (kReadingDrift * kReadingDrift + scale * scale);
  for (std::size_t p = 0; p < particles_; ++p) {
    const double off = y - values[p];
    const double same = (1 - kReadingWaits - kReadingNonsense - jumps) * heavy_density(off, scale);
    const double jumped = jumps * normal_density(off, deviation);
    const double other = kReadingNonsense / kReadingRange +
                         (off > 0 ? kReadingWaits * std::exp(-off / 1.5) / 1.5 : 0);
    weights[p] = same + jumped + other;
    const double at = draw.uniform() * weights[p];
    const double z = draw.normal();
    if (at < same) {
      values[p] += gain * (off + scale * z);
    } else if (at < same + jumped) {
      values[p] = y + scale * z;
    }
  }
  return survivors(weights, draw.uniform());
}

void Belief::see(Column& column, const Reading& reading) {
  if (!reading.usable()) return;
  const std::vector<std::uint32_t> from = explain(column, reading);
  const Column old = column;
  for (std::size_t p = 0; p < particles_; ++p) column[p] = old[from[p]];
}

// Particles in which the agents share their links predict the reading by these links, which a
// reading among agents does not move. They become fewer if it is another one.
void Belief::see_peers(Column& column, double LinkEstimate::*quantity, const Reading& reading) {
  if (!reading.usable() || present_.empty()) return;
  Column values = column;
  PlanWorld world;
  for (std::size_t p = 0; p < particles_; ++p) {
    if (peers_.shared[p] <= 0) continue;
    fill_links(p, world);
    values[p] = std::log(peers_of(p, world.slowest).*quantity);
  }
  const std::vector<std::uint32_t> from = explain(values, reading);
  for (std::size_t p = 0; p < particles_; ++p) {
    if (peers_.shared[p] <= 0) column[p] = values[p];
  }
  for (Column* each : {&peers_.alpha, &peers_.rate, &peers_.shared}) {
    const Column old = *each;
    for (std::size_t p = 0; p < particles_; ++p) (*each)[p] = old[from[p]];
  }
}

void Belief::saw_latency(const std::string& agent, double seconds, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    see(found->second.alpha, {.value = seconds, .error = error});
  }
}
void Belief::saw_uplink(const std::string& agent, double s_per_byte, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    see(found->second.up, {.value = s_per_byte, .error = error, .use = 1});
  }
}
void Belief::saw_downlink(const std::string& agent, double s_per_byte, double error) {
  if (const auto found = agents_.find(agent); found != agents_.end()) {
    AgentColumns& columns = found->second;
    const bool first = !std::exchange(columns.down_read, true);
    see(columns.down, {.value = s_per_byte, .error = error, .use = 2, .first = first});
  }
}
void Belief::saw_peer_latency(double seconds, double error) {
  see_peers(peers_.alpha, &LinkEstimate::alpha_s, {.value = seconds, .error = error, .use = 3});
}
void Belief::saw_peer_rate(double s_per_byte, double error) {
  see_peers(peers_.rate, &LinkEstimate::beta_s_per_byte,
            {.value = s_per_byte, .error = error, .use = 4});
}

// Sizes are counted, so the value replaces what was believed.
void Belief::saw_size(std::size_t codec, double factor) {
  if (codec >= codecs_ || !usable(factor)) return;
  ++step_;
  Draws draw = draws(kUseRead);
  for (double& size : factors_.size[codec]) size = std::log(factor) + 0.01 * draw.normal();
}

}  // namespace tributary
