// The address of one attempt at a round, as a plain value that can be compared and sorted. It has
// the same fields as wire::RoundId.
//
// Keys order by job, round, epoch and attempt, so the attempts at one round are neighbours in a
// map.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "schemas/frame_generated.h"

namespace tributary {

struct RoundKey {
  std::uint64_t job = 0;
  std::uint64_t round = 0;  // 0: no round
  std::uint32_t epoch = 0;
  std::uint32_t attempt = 0;

  friend auto operator<=>(const RoundKey&, const RoundKey&) = default;
};

RoundKey key_of(const wire::RoundId& id);
wire::RoundId wire_id(const RoundKey& key);
// "job 7 round 12 (epoch 3, attempt 0)"
std::string text(const RoundKey& key);

}  // namespace tributary
