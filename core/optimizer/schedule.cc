#include "core/optimizer/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/base/nearest.h"
#include "core/codec/spec.h"

namespace tributary {
namespace {

constexpr double kRoundsMax = 1e9;

// Every schedule has a warm-up, in which the rate grows linearly.
constexpr ParamSpec kWarmup = {.name = "warmup",
                               .kind = ParamKind::integer,
                               .default_value = "0",
                               .min = 0,
                               .max = kRoundsMax,
                               .help = "rounds up to the full rate"};
constexpr std::array kConstantParams = {kWarmup};
constexpr std::array kStepParams = {ParamSpec{.name = "every",
                                              .kind = ParamKind::integer,
                                              .default_value = "30",
                                              .min = 1,
                                              .max = kRoundsMax,
                                              .help = "rounds of one stair"},
                                    ParamSpec{.name = "factor",
                                              .kind = ParamKind::real,
                                              .default_value = "0.1",
                                              .min = 0,
                                              .max = 1,
                                              .help = "from one stair to the next"},
                                    kWarmup};
constexpr std::array kCosineParams = {ParamSpec{.name = "rounds",
                                                .kind = ParamKind::integer,
                                                .default_value = "0",
                                                .min = 0,
                                                .max = kRoundsMax,
                                                .help = "until the floor; 0: the job's"},
                                      ParamSpec{.name = "floor",
                                                .kind = ParamKind::real,
                                                .default_value = "0",
                                                .min = 0,
                                                .max = 1,
                                                .help = "share of the rate at the end"},
                                      kWarmup};
// In the order of ScheduleKind.
constexpr std::array<std::string_view, 3> kNames = {"constant", "step", "cosine"};
constexpr std::array<std::span<const ParamSpec>, 3> kTables = {kConstantParams, kStepParams,
                                                               kCosineParams};

}  // namespace

Result<Schedule> parse_schedule(std::string_view spec) {
  TRIBUTARY_ASSIGN(const SpecText text, split_spec(spec));
  const auto found = std::ranges::find(kNames, text.name);
  if (found == kNames.end()) {
    return Status(StatusCode::invalid_argument, {.what = "schedule of the learning rate",
                                                 .expected = "one that this version has",
                                                 .got = fmt::format("'{}'", text.name),
                                                 .remedy = did_you_mean(text.name, kNames)});
  }
  const auto kind = static_cast<std::size_t>(found - kNames.begin());
  Result<Params> params = Params::make(text, kTables[kind]);
  if (!params.ok()) return std::move(params).status().at("schedule of the learning rate");
  Schedule schedule;
  schedule.kind = static_cast<ScheduleKind>(kind);
  schedule.warmup = static_cast<std::uint64_t>(params->integer("warmup"));
  if (schedule.kind == ScheduleKind::step) {
    schedule.every = static_cast<std::uint64_t>(params->integer("every"));
    schedule.factor = params->real("factor");
  } else if (schedule.kind == ScheduleKind::cosine) {
    schedule.length = static_cast<std::uint64_t>(params->integer("rounds"));
    schedule.floor = params->real("floor");
  }
  return schedule;
}

double scheduled_rate(const Schedule& schedule, double full_rate, std::uint64_t round,
                      std::uint64_t rounds) {
  // warmup = 0 never enters here, because rounds start at 1.
  if (round <= schedule.warmup) {
    return full_rate * static_cast<double>(round) / static_cast<double>(schedule.warmup);
  }
  const std::uint64_t since = round - schedule.warmup - 1;
  if (schedule.kind == ScheduleKind::step) {
    const std::uint64_t steps = since / schedule.every;
    return full_rate * std::pow(schedule.factor, static_cast<double>(steps));
  }
  if (schedule.kind == ScheduleKind::constant) return full_rate;
  // A length of 0 means the job's number of rounds. Rounds after the end keep the floor.
  const std::uint64_t end = schedule.length != 0 ? schedule.length : rounds;
  const std::uint64_t length = end > schedule.warmup ? end - schedule.warmup : 1;
  const double part = std::min(1.0, static_cast<double>(since) / static_cast<double>(length));
  const double wave = (1 + std::cos(std::numbers::pi * part)) / 2;
  return full_rate * (schedule.floor + (1 - schedule.floor) * wave);
}

}  // namespace tributary
