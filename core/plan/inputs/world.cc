#include "core/plan/inputs/world.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

constexpr double kLogSteps = 1000;

}  // namespace

void PlanWorld::summarize() {
  slowest = {};
  for (const Link& link : links) {
    slowest.alpha_s = std::max(slowest.alpha_s, link.alpha_s);
    slowest.rate.up = std::max(slowest.rate.up, link.rate.up);
    slowest.rate.down = std::max(slowest.rate.down, link.rate.down);
  }
}

std::vector<int> logs_of(const PlanWorld& world) {
  std::vector<int> logs;
  visit_values(world, [&](double value) {
    logs.push_back(value > 0 ? static_cast<int>(std::lround(std::log(value) * kLogSteps)) : kNoLog);
  });
  return logs;
}

bool world_of(const std::vector<int>& logs, std::size_t agents, std::size_t codecs,
              PlanWorld& world) {
  world.links.resize(agents);
  world.cpu.resize(codecs);
  world.size.resize(codecs);
  world.times.resize(codecs * kCollectives.size());
  world.in_network = 1;
  std::size_t place = 0;
  visit_values(world, [&](double& value) {
    if (place < logs.size()) {
      value = logs[place] == kNoLog ? 0 : std::exp(logs[place] / kLogSteps);
    }
    ++place;
  });
  world.summarize();
  return place == logs.size() || place == logs.size() + 1;
}

PlanWorld typical_world(const std::vector<PlanWorld>& worlds) {
  std::vector<double> sums;
  PlanWorld::Link slowest = {};
  for (const PlanWorld& world : worlds) {
    slowest.alpha_s += std::log(world.slowest.alpha_s);
    slowest.rate.up += std::log(world.slowest.rate.up);
    slowest.rate.down += std::log(world.slowest.rate.down);
    std::size_t place = 0;
    visit_values(world, [&](double value) {
      if (place == sums.size()) sums.push_back(0);
      sums[place++] += std::log(value);
    });
  }
  PlanWorld typical = worlds.front();
  std::size_t place = 0;
  visit_values(typical, [&](double& value) {
    value = std::exp(sums[place++] / static_cast<double>(worlds.size()));
  });
  // Which agent is the slowest differs between worlds, so the slowest of the means is too fast.
  const auto count = static_cast<double>(worlds.size());
  typical.slowest = {.alpha_s = std::exp(slowest.alpha_s / count),
                     .rate = {.up = std::exp(slowest.rate.up / count),
                              .down = std::exp(slowest.rate.down / count)}};
  return typical;
}

BeliefBand band_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t edge = values.size() / 20;
  return {.low = values[edge],
          .median = values[values.size() / 2],
          .high = values[values.size() - 1 - edge]};
}

}  // namespace tributary
