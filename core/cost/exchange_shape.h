// The shapes of the trees that buckets use, as far as the cost depends on them. Members are
// numbered by their distance from the root, which has distance 0; in a tree of one member that
// member is the root. All functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "schemas/frame_generated.h"

namespace tributary {

// The collectives that a job can have. The first goes by the coordinator, whose line all members
// share; the others go among peers.
inline constexpr std::array<wire::Collective, 6> kCollectives = {
    wire::Collective::star, wire::Collective::sharded_star,     wire::Collective::ring,
    wire::Collective::tree, wire::Collective::halving_doubling, wire::Collective::all_gather};

// What is done with the payloads of one stage of a codec.
enum class StageFlow : std::uint8_t {
  reduced,    // combined on the way up the owner's tree, the result comes down
  from_root,  // one member's to all
  gathered,   // everybody's to all: peers do not combine them, the coordinator may
};

enum class TreeShape : std::uint8_t {
  direct,    // every member sends to the root
  chain,     // 1 to 2 to 3 and so on around to the root; results take the same links
  binomial,  // the parent of d is d without its lowest bit
};

// How a bucket travels. Where the owners take turns, bucket b has member b mod n as its root.
struct ExchangeTree {
  TreeShape shape = TreeShape::direct;
  bool owners_take_turns = true;
};

// Nothing: none of kCollectives.
std::optional<ExchangeTree> tree_of(wire::Collective collective);

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
