// Learning rates that change from round to round: pure functions of the round. Whoever plans a
// round computes the rate and says it in the plan, so that nobody has to agree on a cosine.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

enum class ScheduleKind : std::uint8_t { constant, step, cosine };

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint64_t warmup = 0;  // rounds of a straight line up to the full rate
  std::uint64_t every = 0;   // step: rounds of one stair
  double factor = 1;         // step: from one stair to the next
  std::uint64_t length = 0;  // cosine: rounds until the floor is reached; 0: the job's
  double floor = 0;          // cosine: share of the full rate that is left at the end
};

// "constant", "constant:warmup=5", "step:every=30,factor=0.1", "cosine:warmup=5,floor=0.01"
Result<Schedule> parse_schedule(std::string_view spec);

// Of the round, from 1; `rounds` is how many the job has.
double scheduled_rate(const Schedule& schedule, double full_rate, std::uint64_t round,
                      std::uint64_t rounds);

}  // namespace tributary
