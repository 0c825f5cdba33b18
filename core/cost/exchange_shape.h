// The trees that buckets travel, as far as their cost depends on them. Members are numbered by
// their distance from the root, which is 0; a tree of one member is the root.
#pragma once

#include <cstdint>

namespace tributary {

enum class TreeShape : std::uint8_t {
  direct,    // everybody to the root
  chain,     // 1 to 2 to 3 and so on round to the root; what comes down goes the same way
  binomial,  // the parent of d is d without its lowest bit
};

std::uint32_t children_up(TreeShape shape, std::uint32_t members, std::uint32_t distance);
std::uint32_t children_down(TreeShape shape, std::uint32_t members, std::uint32_t distance);
std::uint32_t leaves(TreeShape shape, std::uint32_t members);
// Links between the root and the member that is farthest from it.
std::uint32_t hops(TreeShape shape, std::uint32_t members);

// How long one bucket takes when nothing else is under way. A payload keeps the port of its sender
// and the port of its receiver busy for port_s, and is alpha_s on its way; a member sends to its
// children at the same time.
double time_up(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);
double time_down(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);

}  // namespace tributary
