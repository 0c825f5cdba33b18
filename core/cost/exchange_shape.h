// The shapes of the trees that buckets use, as far as the cost depends on them. Members are
// numbered by their distance from the root, which has distance 0; in a tree of one member that
// member is the root. All functions are pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "schemas/frame_generated.h"

namespace tributary {

// The collectives that a job can use. The first goes through the coordinator, whose link all
// members share; the others connect the members directly.
inline constexpr std::array<wire::Collective, 6> kCollectives = {
    wire::Collective::star, wire::Collective::sharded_star,     wire::Collective::ring,
    wire::Collective::tree, wire::Collective::halving_doubling, wire::Collective::all_gather};

// Those that a plan may choose: with an aggregator in the network, whose exchange has no tree.
inline constexpr std::array<wire::Collective, 7> kPlannedCollectives = {
    wire::Collective::star,      wire::Collective::sharded_star,     wire::Collective::ring,
    wire::Collective::tree,      wire::Collective::halving_doubling, wire::Collective::all_gather,
    wire::Collective::in_network};

// How the payloads of one stage of a codec are exchanged.
enum class StageFlow : std::uint8_t {
  reduced,    // combined up the owner's tree; the result goes down
  from_root,  // one member's payload goes to all
  gathered,   // all payloads go to all; only the coordinator may combine them
};

// The shape of a tree, which determines the parent of each member.
enum class TreeShape : std::uint8_t {
  direct,    // every member sends to the root
  chain,     // 1 to 2 to 3 and so on to the root; results use the same links
  binomial,  // the parent of d is d without its lowest bit
};

// The path of a bucket. If the owners take turns, bucket b has member b mod n as its root.
struct ExchangeTree {
  TreeShape shape = TreeShape::direct;
  bool owners_take_turns = true;
};

// Returns nothing if `collective` is not one of kCollectives.
std::optional<ExchangeTree> tree_of(wire::Collective collective);

// Number of members from which this one receives partial sums.
std::uint32_t children_up(TreeShape shape, std::uint32_t members, std::uint32_t distance);
// Number of members to which this one sends the result.
std::uint32_t children_down(TreeShape shape, std::uint32_t members, std::uint32_t distance);
// Number of members without children on the way up.
std::uint32_t leaves(TreeShape shape, std::uint32_t members);
// Number of links between the root and the farthest member.
std::uint32_t hops(TreeShape shape, std::uint32_t members);

// Duration of the path of one bucket up or down an idle network. A payload occupies the ports of
// its sender and of its receiver for port_s each, and its latency is alpha_s. A member sends to its
// children concurrently.
double time_up(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);
double time_down(TreeShape shape, std::uint32_t members, double port_s, double alpha_s);

}  // namespace tributary
