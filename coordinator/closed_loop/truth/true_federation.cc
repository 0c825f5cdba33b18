#include "coordinator/closed_loop/truth/true_federation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "coordinator/closed_loop/truth/declared_codecs.h"

namespace tributary {
namespace {

// Number of steps that are drawn before they repeat.
constexpr std::size_t kRandomSteps = 40;
// Range of the true agreement; the planner assumes its middle.
constexpr Span kTrueAgreement = {0.35, 0.7};

// The directions of an agent's links.
enum class Direction : std::uint64_t { up, down, peers, all };

std::vector<LinkStep> drawn_steps(const RandomSteps& random, std::uint64_t seed,
                                  Direction direction) {
  SeededDraws draws(seed, DrawUse::rate_steps, static_cast<std::uint64_t>(direction));
  std::vector<LinkStep> steps;
  for (std::size_t i = 0; i < kRandomSteps; ++i) {
    LinkStep& step = steps.emplace_back();
    step.seconds = draw_log_uniform(random.seconds, draws);
    step.rate_mbit_s = draw_log_uniform(random.rate_mbit_s, draws);
    step.delay_ms = draw_log_uniform(random.delay_ms, draws);
  }
  return steps;
}

// All agents follow the same steps, each with its own factor.
LinkLine line_of(const PlanLinkSettings& links, std::uint64_t seed, Direction direction,
                 std::uint64_t agent, double slowness) {
  constexpr auto kDirections = static_cast<std::uint64_t>(Direction::all);
  SeededDraws draws(seed, DrawUse::rates,
                    agent * kDirections + static_cast<std::uint64_t>(direction));
  const double factor = draw_log_uniform(links.factor, draws) * slowness;
  std::vector<LinkStep> steps = links.steps;
  if (links.random) steps = drawn_steps(*links.random, seed, direction);
  if (steps.empty()) {
    LinkStep& step = steps.emplace_back(LinkStep{.seconds = 1});
    step.rate_mbit_s = draw_log_uniform(links.rate_mbit_s, draws);
    step.delay_ms = draw_log_uniform(links.delay_ms, draws);
  }
  double total_s = 0;
  for (LinkStep& step : steps) {
    step.rate_mbit_s *= factor;
    total_s += step.seconds;
  }
  return LinkLine(steps, links.staggered ? draws.uniform() * total_s : 0);
}

TrueAgent make_agent(const PlanScenario& scenario, std::uint64_t seed, std::uint32_t number) {
  const bool slow = number + scenario.slow_agents >= scenario.agents;
  const double slowness = slow ? scenario.slow_factor : 1;
  TrueAgent agent = {.id = fmt::format("agent-{}", number)};
  agent.up = line_of(scenario.uplinks, seed, Direction::up, number, slowness);
  agent.down = scenario.downlinks
                   ? line_of(*scenario.downlinks, seed, Direction::down, number, slowness)
                   : agent.up;
  if (scenario.peers) agent.peers = line_of(*scenario.peers, seed, Direction::peers, number, 1);
  SeededDraws draws(seed, DrawUse::training, number);
  agent.training_s = draw_log_uniform(scenario.training_ms, draws) * 1e-3;
  if (number + scenario.visitors >= scenario.agents) {
    agent.present_s = draw_log_uniform(scenario.present_s, draws);
    agent.period_s = agent.present_s + draw_log_uniform(scenario.absent_s, draws);
    agent.phase_s = agent.present_s * draws.uniform();
  }
  return agent;
}

double drawn_factor(double deviation, SeededDraws& draws) {
  return std::exp(deviation * draw_normal(draws));
}

}  // namespace

bool TrueAgent::present(double at_s) const {
  return period_s == 0 || std::fmod(at_s + phase_s, period_s) < present_s;
}

double TrueAgent::next_change_s(double at_s) const {
  double next_s =
      std::min({up.next_change_s(at_s), down.next_change_s(at_s), peers.next_change_s(at_s)});
  if (period_s == 0) return next_s;
  const double place_s = std::fmod(at_s + phase_s, period_s);
  const double turn_s = place_s < present_s ? present_s : period_s;
  // The least step keeps rounding from repeating the same time.
  constexpr double kLeastTurn_s = 1e-9;
  return std::min(next_s, at_s + std::max(turn_s - place_s, kLeastTurn_s));
}

std::vector<std::uint32_t> TrueFederation::present(double at_s) const {
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < agents.size(); ++i) {
    if (agents[i].present(at_s)) members.push_back(i);
  }
  return members;
}

double TrueFederation::next_change_s(double at_s) const {
  double next_s = LinkLine::kNever;
  for (const TrueAgent& agent : agents) next_s = std::min(next_s, agent.next_change_s(at_s));
  return next_s;
}

double draw_normal(SeededDraws& draws) {
  const double radius = std::sqrt(-2 * std::log1p(-draws.uniform()));
  return radius * std::cos(2 * std::numbers::pi * draws.uniform());
}

TrueFederation make_federation(const PlanScenario& scenario, std::uint64_t seed) {
  TrueFederation federation = {.peers_reachable = scenario.peers_reachable,
                               .peers_share_ports = !scenario.peers,
                               .cpu_slowdown = scenario.cpu_slowdown};
  for (std::uint32_t i = 0; i < scenario.agents; ++i) {
    federation.agents.push_back(make_agent(scenario, seed, i));
  }
  if (scenario.coordinator_mbit_s > 0) {
    federation.coordinator =
        LinkLine(std::vector<LinkStep>{{.seconds = 1, .rate_mbit_s = scenario.coordinator_mbit_s}});
  }
  const HiddenSettings& hidden = scenario.hidden;
  SeededDraws draws(seed, DrawUse::hidden_factors, 0);
  federation.overhead_s = draw_log_uniform(hidden.overhead_ms, draws) * 1e-3;
  federation.agreement = draw_log_uniform(kTrueAgreement, draws);
  for (const PlanCodec& codec : declared_codecs()) {
    federation.codec_time[codec.spec] = drawn_factor(hidden.codec_time, draws);
    const double size = drawn_factor(hidden.payload_size, draws);
    federation.payload_size[codec.spec] = size_depends_on_values(codec.spec) ? size : 1;
  }
  federation.collective_time.fill(1);
  for (const wire::Collective kind : kCollectives) {
    federation.collective_time[static_cast<std::size_t>(kind)] =
        drawn_factor(hidden.collective_time, draws);
  }
  for (std::uint32_t i = 0; i < scenario.agents; ++i) {
    federation.reported_speed.push_back(drawn_factor(hidden.device_report, draws));
  }
  return federation;
}

}  // namespace tributary
