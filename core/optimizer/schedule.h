// Learning rates that depend on the round. The functions are pure.
//
// The planner of a round computes the rate and sends it in the plan. Agents therefore need not
// compute the same cosine, which C libraries may round differently.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

enum class ScheduleKind : std::uint8_t { constant, step, cosine };

// A schedule; comments name the kind that uses a field.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint64_t warmup = 0;  // rounds of a linear increase to the full rate
  std::uint64_t every = 0;   // step: rounds with the same rate
  double factor = 1;         // step: ratio of a rate to the previous one
  std::uint64_t length = 0;  // cosine: rounds until the floor; 0: the job's rounds
  double floor = 0;          // cosine: share of the full rate at the end
};

// Parses a spec such as "constant", "constant:warmup=5", "step:every=30,factor=0.1" or
// "cosine:warmup=5,floor=0.01". Returns invalid_argument for an unknown name or parameter.
Result<Schedule> parse_schedule(std::string_view spec);

// Returns the rate of a round, counted from 1. `rounds` is the number of rounds of the job.
double scheduled_rate(const Schedule& schedule, double full_rate, std::uint64_t round,
                      std::uint64_t rounds);

}  // namespace tributary
