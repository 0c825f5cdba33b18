// A round that has begun, for unit tests of the objects that handle it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary::round_testing {

// All members participate.
inline std::unique_ptr<ActiveRound> begin_round(const Membership& membership, TimeNs now,
                                                std::shared_ptr<const RoundPlan> plan,
                                                std::span<float> residual = {}) {
  std::vector<RoundMember> members;
  for (const Membership::Member& one : membership.members()) {
    members.push_back({.session = one.session, .participates = true});
  }
  auto round = std::make_unique<ActiveRound>(std::move(plan), std::move(members));
  EXPECT_TRUE(round->begin({}, residual, {}).ok());
  round->began_at_ns = now;
  return round;
}

}  // namespace tributary::round_testing
