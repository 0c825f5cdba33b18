// The shapes of the trees that buckets use, as far as the cost depends on them. Members are
// numbered by their distance from the root, which has distance 0; in a tree of one member that
// member is the root. All functions are pure.
#pragma once

#include <cstdint>

namespace tributary {

enum class TreeShape : std::uint8_t {
  direct,    // every member sends to the root
  chain,     // 1 to 2 to 3 and so on around to the root; results take the same links
  binomial,  // the parent of d is d without its lowest bit
};

// Number of members from which this one receives partial sums.
std::uint32_t children_up(TreeShape shape, std::uint32_t members, std::uint32_t distance);
// Number of members to which this one sends the result.
std::uint32_t children_down(TreeShape shape, std::uint32_t members, std::uint32_t distance);
// Number of members without children on the way up.
std::uint32_t leaves(TreeShape shape, std::uint32_t members);
// Number of links between the root and the farthest member.
std::uint32_t hops(TreeShape shape, std::uint32_t members);

// Duration of one bucket's way up or down while nothing else is under way. A payload keeps the
// ports of its sender and of its receiver busy for port_s each, and its latency is alpha_s. A
// member sends to its children concurrently.
double time_up(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);
double time_down(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);

}  // namespace tributary
