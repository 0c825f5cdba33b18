#include "bench/plan/changing_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/base/random.h"
#include "core/plan/corrections.h"

namespace tributary::bench {
namespace {

constexpr double kNoise = 0.05;  // relative error of a measurement, in each direction
constexpr double kLearnt_s = 1e-9;

// How far what really happens is from the model, by collective: what corrections are there for.
double hidden_factor(wire::Collective kind) {
  constexpr double kFactors[] = {1.05, 1.12, 1.03,
                                 1.15, 1.10, 1.35};  // in the order of kCollectives
  const auto place = static_cast<std::size_t>(kind) - static_cast<std::size_t>(kCollectives[0]);
  return kFactors[place];
}

// The link at this time; a path between agents crosses two links.
LinkEstimate line_at(const ChangingLink& world, double seconds) {
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds / world.seconds_per_step));
  const TraceStep& step = world.trace.at(since);
  const double delay_s = std::chrono::duration<double>(step.delay).count();
  const double rate = static_cast<double>(step.bytes_per_s);
  return {.alpha_s = 2 * delay_s, .beta_s_per_byte = rate > 0 ? 1 / rate : 0};
}

void set_lines(PlanInputs& inputs, const LinkEstimate& line) {
  for (PlanAgent& agent : inputs.agents) {
    agent.alpha_s = line.alpha_s;
    agent.beta_s_per_byte = line.beta_s_per_byte;
  }
  inputs.peer_alpha_s = line.alpha_s;
  inputs.peer_beta_s_per_byte = line.beta_s_per_byte;
  inputs.hub_beta_s_per_byte = line.beta_s_per_byte;
}

// One training: its time, the accumulated gain, and the current truth about the links.
class Training {
 public:
  Training(const ChangingLink& world, double target)
      : world_(world), target_(target), truth_(world.inputs) {}

  bool done() const { return gain_ >= target_ || rounds_ >= kRoundsMax; }
  double now_s() const { return now_s_; }
  double gain() const { return gain_; }
  std::uint64_t rounds() const { return rounds_; }
  const GainPoints& gain_curve() const {
    const double share = std::clamp(gain_ / target_, 0.0, 1.0);
    const auto parts = static_cast<double>(world_.gains.size());
    const auto part = static_cast<std::size_t>(std::min(share * parts, parts - 1));
    return world_.gains[part];
  }

  // Returns the duration of the exchange. If the link changes during the exchange, the remaining
  // part takes the new speed.
  double round(const PlanChoice& choice) {
    now_s_ += truth_.agents.front().compute_s;
    const double began_s = now_s_;
    double left = 1;  // remaining share of the exchange
    double gain = 0;
    while (left > 0) {
      const PlanCost cost = cost_now(choice);
      gain = cost.gain;
      const double all_s = std::max(cost.exchange_s * hidden_factor(choice.collective), kLearnt_s);
      const double until_s = next_change_s() - now_s_;
      const double here_s = std::min(left * all_s, until_s);
      now_s_ += here_s;
      left -= here_s / all_s;
      if (left < 1e-12) left = 0;
    }
    gain_ += gain;
    ++rounds_;
    return now_s_ - began_s;
  }

 private:
  PlanCost cost_now(const PlanChoice& choice) {
    set_lines(truth_, line_at(world_, now_s_));
    for (PlanAgent& agent : truth_.agents) agent.gain = gain_curve();
    const PlanPredictor predictor(truth_);
    return predictor.cost(*find_codec(truth_, choice), choice.collective, choice.ratio,
                          choice.bucket_values);
  }

  // The end of the step of the trace that is in force. The trace repeats.
  double next_change_s() const {
    const double period_s =
        world_.seconds_per_step * std::chrono::duration<double>(world_.trace.lasts()).count();
    double end_s = std::floor(now_s_ / period_s) * period_s;
    for (;;) {
      for (const TraceStep& step : world_.trace.steps()) {
        end_s += world_.seconds_per_step * std::chrono::duration<double>(step.lasts).count();
        if (end_s > now_s_ + 1e-9) return end_s;
      }
    }
  }

  const ChangingLink& world_;
  const double target_;
  PlanInputs truth_;
  double now_s_ = 0;
  double gain_ = 0;
  std::uint64_t rounds_ = 0;
};

// The planner's measurement of a link, with noise.
class Measured {
 public:
  LinkEstimate of(const LinkEstimate& line) {
    return {.alpha_s = line.alpha_s * noise(), .beta_s_per_byte = line.beta_s_per_byte * noise()};
  }

 private:
  double noise() {
    const StreamKey key = stream_key({.job_seed = 7, .purpose = DrawPurpose::jitter});
    return 1 + kNoise * (2 * static_cast<double>(uniform_01(random_bits(key, draws_++))) - 1);
  }
  std::uint32_t draws_ = 0;
};

std::string fixed_name(const PlanChoice& choice) {
  return fmt::format("{} by {}", choice.codec, wire::EnumNameCollective(choice.collective));
}

}  // namespace

double gain_after(const ChangingLink& world, const PlanChoice& choice, double seconds) {
  Training training(world, 1e18);
  while (training.now_s() < seconds && !training.done()) training.round(choice);
  return training.gain();
}

Course run_fixed(const ChangingLink& world, const PlanChoice& choice, double target) {
  Training training(world, target);
  while (!training.done()) training.round(choice);
  return {.name = fixed_name(choice), .seconds = training.now_s(), .rounds = training.rounds()};
}

// The planner decides before each round, with measurements that are one round old, and learns from
// the duration of the round.
Course run_adaptive(const ChangingLink& world, double target) {
  Training training(world, target);
  Measured measured;
  PlanInputs inputs = world.inputs;
  Course course = {.name = "adaptive"};
  set_lines(inputs, measured.of(line_at(world, 0)));
  while (!training.done()) {
    for (PlanAgent& agent : inputs.agents) agent.gain = training.gain_curve();
    const Result<PlanDecision> decision = decide(inputs);
    if (!decision.ok()) {
      course.name += ": " + decision.status().text();
      return course;
    }
    if (decision->trigger != PlanTrigger::none) {
      inputs.before = in_force(*decision, inputs, PlanPredictor(inputs));
    }
    if (decision->switched) {
      ++course.switches;
      course.reasons.push_back(fmt::format("{:.0f} s, round {}: {}", training.now_s(),
                                           training.rounds(), decision->reason));
    }
    const LinkEstimate line = measured.of(line_at(world, training.now_s()));
    const double took_s = training.round(decision->chosen.choice);
    learn(inputs.corrections, *find_codec(inputs, decision->chosen.choice), decision->chosen,
          took_s);
    set_lines(inputs, line);
    ++inputs.before->rounds;
  }
  course.seconds = training.now_s();
  course.rounds = training.rounds();
  return course;
}

}  // namespace tributary::bench
