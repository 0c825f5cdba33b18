#include "core/round/coordinator/attempt/deadline_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tributary {
namespace {

// Margin of the recommended deadline, because rates of links vary.
constexpr double kDeadlineMargin = 1.5;
constexpr std::uint64_t kDeadlineMsMax = 24 * 3'600'000;  // the same as in core/job/job_settings.cc
constexpr double kFitMax_s = 1e9;                         // more than any job may have
constexpr std::size_t kAgentsNamed = 3;
constexpr double kBitsMin = 0.01;  // no codec needs fewer

// The need of one direction of an agent's link. `bits_fit` is the number of bits per value that the
// uplink could carry within the deadline; infinite if nothing limits it.
struct DeadlineEstimate {
  double needed_s = 0;  // from the start of the attempt; 0: unknown
  double bits_fit = std::numeric_limits<double>::infinity();
  std::optional<DeadlineVerdict::Agent> late;
};

DeadlineEstimate estimate_uplink(const DeadlineInput& input, const DeadlineInput::Agent& agent) {
  DeadlineEstimate estimate;
  const double rate = agent.uplink_bytes_per_s;
  const double left = std::max(agent.update_bytes - agent.received_bytes, 0.0);
  // Without a measured rate the agent counts as fast enough.
  if (rate <= 0 || left <= 0) return estimate;
  estimate.needed_s = input.elapsed_s + left / rate;
  // The agent downloaded or trained before it began to send.
  const double began_s = std::max(input.elapsed_s - agent.received_bytes / rate, 0.0);
  const double fit_bytes = std::max(input.deadline_s - began_s, 0.0) * rate;
  if (input.values > 0) estimate.bits_fit = fit_bytes * 8 / static_cast<double>(input.values);
  if (estimate.needed_s > input.deadline_s) {
    estimate.late = {.agent_id = std::string(agent.agent_id),
                     .link = SlowLink::uplink,
                     .bytes_per_s = rate,
                     .bytes = agent.update_bytes,
                     .takes_s = agent.update_bytes / rate};
  }
  return estimate;
}

// A slow downlink says nothing about the codec of uploads, so bits_fit stays infinite.
DeadlineEstimate estimate_downlink(const DeadlineInput& input, const DeadlineInput::Agent& agent) {
  DeadlineEstimate estimate;
  const double rate = agent.downlink_bytes_per_s;
  if (rate <= 0 || agent.down_bytes <= 0) return estimate;
  estimate.needed_s = input.elapsed_s + agent.down_bytes / rate;
  if (estimate.needed_s > input.deadline_s) {
    estimate.late = {.agent_id = std::string(agent.agent_id),
                     .link = SlowLink::downlink,
                     .bytes_per_s = rate,
                     .bytes = agent.down_bytes,
                     .takes_s = agent.down_bytes / rate};
  }
  return estimate;
}

std::string bytes_with_unit(double bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"B", "kB", "MB", "GB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return bytes < 10 && unit > 0 ? fmt::format("{:.1f} {}", bytes, kUnits[unit])
                                : fmt::format("{:.0f} {}", bytes, kUnits[unit]);
}

std::string seconds_with_unit(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

// Rounds down, so that the text never promises more than fits.
std::string bits_of(double bits) {
  if (bits >= 4) return fmt::format("{:.0f}", std::floor(bits));
  const double step = bits >= 1 ? 10 : 100;
  return fmt::format("{:g}", std::floor(bits * step) / step);
}

std::string sentence_of(const DeadlineVerdict::Agent& agent) {
  const double mbit_per_s = agent.bytes_per_s * 8 / 1e6;
  if (agent.link == SlowLink::uplink) {
    return fmt::format("the uplink of {} carries {:.2g} Mbit/s and its update of {} takes {}",
                       agent.agent_id, mbit_per_s, bytes_with_unit(agent.bytes),
                       seconds_with_unit(agent.takes_s));
  }
  return fmt::format("the downlink of {} carries {:.2g} Mbit/s and the {} that it lacks take {}",
                     agent.agent_id, mbit_per_s, bytes_with_unit(agent.bytes),
                     seconds_with_unit(agent.takes_s));
}

}  // namespace

std::optional<DeadlineVerdict> check_deadline(const DeadlineInput& input) {
  const std::size_t quorum = std::max(input.quorum, 1u);
  // The quorum is missed because too few agents participate, whatever their links.
  if (input.agents.size() < quorum) return std::nullopt;
  std::vector<double> needed_s;
  std::vector<double> bits_fit;
  DeadlineVerdict verdict;
  // An agent is either receiving or sending, so at most one of the two estimates is known. An agent
  // without any measured rate counts as on time: the verdict must not be based on guesses.
  for (const DeadlineInput::Agent& agent : input.agents) {
    const DeadlineEstimate up = estimate_uplink(input, agent);
    const DeadlineEstimate down = estimate_downlink(input, agent);
    needed_s.push_back(std::max(up.needed_s, down.needed_s));
    bits_fit.push_back(up.bits_fit);
    const auto& late = up.late ? up.late : down.late;
    if (late) verdict.agents.push_back(*late);
  }
  if (input.agents.size() - verdict.agents.size() >= quorum) return std::nullopt;
  // The quorum is reached when the agent at this position of the ascending order is done.
  const auto place = static_cast<std::ptrdiff_t>(quorum - 1);
  std::ranges::nth_element(needed_s, needed_s.begin() + place);
  std::ranges::nth_element(bits_fit, bits_fit.begin() + place, std::greater<>());
  verdict.deadline_s = input.deadline_s;
  verdict.needed_s = needed_s[quorum - 1];
  // An attempt may have only a part of the job's deadline. The setting to recommend is the job's.
  const double share = std::max(input.job_deadline_s / std::max(input.deadline_s, 1e-3), 1.0);
  const double fit_s = std::ceil(verdict.needed_s * kDeadlineMargin * share);
  verdict.deadline_ms_fit = static_cast<std::uint64_t>(std::min(fit_s, kFitMax_s)) * 1'000;
  const double bits = bits_fit[quorum - 1];
  verdict.bits_per_value_fit = std::isfinite(bits) ? bits : 0;
  std::ranges::stable_sort(verdict.agents, [](const auto& a, const auto& b) {
    if (a.link != b.link) return a.link == SlowLink::uplink;
    return a.takes_s > b.takes_s;
  });
  verdict.link = verdict.agents.front().link;
  return verdict;
}

std::string DeadlineVerdict::text(std::uint64_t round) const {
  std::string text =
      fmt::format("Round {} cannot collect its updates within its deadline of {}: ", round,
                  seconds_with_unit(deadline_s));
  const std::size_t named = std::min(agents.size(), kAgentsNamed);
  for (std::size_t i = 0; i < named; ++i) {
    text += (i == 0 ? "" : "; ") + sentence_of(agents[i]);
  }
  if (agents.size() > named)
    text += fmt::format("; {} more agents are late", agents.size() - named);
  const bool longer = deadline_ms_fit <= kDeadlineMsMax;
  const bool smaller = bits_per_value_fit >= kBitsMin;
  const std::string codec =
      smaller ? fmt::format("a codec of at most {} bits per value", bits_of(bits_per_value_fit))
              : std::string("a codec of fewer bits per value");
  if (longer) {
    text += fmt::format(". Submit the job again with deadline_ms = {} or more, or with {}.",
                        deadline_ms_fit, codec);
  } else {
    text += fmt::format(". Submit the job again with {}.", codec);
  }
  return text;
}

}  // namespace tributary
