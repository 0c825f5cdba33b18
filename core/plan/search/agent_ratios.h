// Smaller ratios for agents with slow links, so that they do not delay the round.
//
// This applies only to payloads that contain positions of the agent's own choice and go to the
// coordinator; in a sum along a route, all agents must use the same positions. A slow agent keeps
// what it does not send in its residual. Its weight does not change: less of its update arrives in
// each round, but none of it is lost.
#pragma once

#include <vector>

#include "core/plan/inputs/inputs.h"
#include "core/plan/inputs/world.h"

namespace tributary {

// Bytes of a whole update at `ratio`: on the uplink, and on the downlink of the combined result.
struct RatioBytes {
  double ratio = 1;
  double up = 0;
  double down = 0;
};

// Returns the ratio of each agent, at most bytes.ratio and at least the policy's minimum. An agent
// keeps the full ratio if its uplink has not been measured, or if its uplink is not slower than the
// median by more than link_change. No agent gets a ratio so small that its upload is shorter than
// its download, because that saves no time. Empty: all agents keep the full ratio.
std::vector<double> agent_ratios(const PlanInputs& inputs, const RatioBytes& bytes);

// Returns the agent's known rates. An unknown uplink has the mean of the prior, 20 Mbit/s, and an
// unknown downlink the rate of the uplink. A rate is at least 1 kbit/s.
AgentLink link_of(const PlanAgent& agent);

}  // namespace tributary
