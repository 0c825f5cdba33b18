#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/belief/belief_parts.h"

namespace tributary {
namespace {

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
