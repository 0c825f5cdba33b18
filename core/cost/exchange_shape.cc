#include "core/cost/exchange_shape.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <vector>

namespace tributary {
namespace {

// Children of distance d are d + 2^k for all k below d's lowest bit.
std::uint32_t binomial_children(std::uint32_t members, std::uint32_t distance) {
  if (distance >= members) return 0;
  const auto below = static_cast<int>(std::bit_width(members - 1 - distance));
  return static_cast<std::uint32_t>(distance == 0 ? below
                                                  : std::min(below, std::countr_zero(distance)));
}

// Computes the time at which the sum of each member's subtree is complete, starting with the
// farthest member.
double binomial_up(std::uint32_t members, double port_s, double alpha_s) {
  std::vector<double> arrival_s(members, 0.0);
  std::array<double, 32> children;
  for (std::uint32_t d = members; d-- > 0;) {
    const std::uint32_t count = binomial_children(members, d);
    for (std::uint32_t i = 0; i < count; ++i) children[i] = arrival_s[d + (1u << i)];
    const std::span<double> sent(children.data(), count);
    std::ranges::sort(sent);
    for (const double at_s : sent) arrival_s[d] = std::max(arrival_s[d], at_s + alpha_s) + port_s;
  }
  return arrival_s[0];
}

// A parent sends to its children concurrently, so each child receives after all of them have been
// sent.
double binomial_down(std::uint32_t members, double port_s, double alpha_s) {
  std::vector<double> arrival_s(members, 0.0);
  for (std::uint32_t d = 1; d < members; ++d) {
    const std::uint32_t parent = d & (d - 1);
    arrival_s[d] = arrival_s[parent] + binomial_children(members, parent) * port_s + alpha_s;
  }
  return std::ranges::max(arrival_s);
}

}  // namespace

std::optional<ExchangeTree> tree_of(wire::Collective collective) {
  switch (collective) {
    case wire::Collective::star:
      return ExchangeTree{TreeShape::direct, false};
    case wire::Collective::sharded_star:
    case wire::Collective::all_gather:
      return ExchangeTree{TreeShape::direct, true};
    case wire::Collective::ring:
      return ExchangeTree{TreeShape::chain, true};
    case wire::Collective::tree:
      return ExchangeTree{TreeShape::binomial, false};
    case wire::Collective::halving_doubling:
      return ExchangeTree{TreeShape::binomial, true};
    default:
      return {};
  }
}

std::uint32_t children_down(TreeShape shape, std::uint32_t members, std::uint32_t distance) {
  switch (shape) {
    case TreeShape::direct:
      return distance == 0 ? members - 1 : 0;
    case TreeShape::chain:
      return distance + 1 < members ? 1 : 0;
    case TreeShape::binomial:
      return binomial_children(members, distance);
  }
  return 0;
}

std::uint32_t children_up(TreeShape shape, std::uint32_t members, std::uint32_t distance) {
  if (shape != TreeShape::chain) return children_down(shape, members, distance);
  return distance != 1 && members > 1 ? 1 : 0;
}

std::uint32_t leaves(TreeShape shape, std::uint32_t members) {
  if (members < 2) return 0;
  switch (shape) {
    case TreeShape::direct:
      return members - 1;
    case TreeShape::chain:
      return 1;
    case TreeShape::binomial:
      return (members + 1) / 2;
  }
  return 0;
}

std::uint32_t hops(TreeShape shape, std::uint32_t members) {
  if (members < 2) return 0;
  switch (shape) {
    case TreeShape::direct:
      return 1;
    case TreeShape::chain:
      return members - 1;
    case TreeShape::binomial:
      return static_cast<std::uint32_t>(std::bit_width(members)) - 1;
  }
  return 0;
}

// Each hop of a chain waits for the whole payload; a direct owner receives all payloads one after
// another.
double time_up(TreeShape shape, std::uint32_t members, double port_s, double alpha_s) {
  if (members < 2) return 0;
  switch (shape) {
    case TreeShape::direct:
      return (members - 1) * port_s + alpha_s;
    case TreeShape::chain:
      return (members - 1) * (port_s + alpha_s);
    case TreeShape::binomial:
      return binomial_up(members, port_s, alpha_s);
  }
  return 0;
}

double time_down(TreeShape shape, std::uint32_t members, double port_s, double alpha_s) {
  if (members < 2) return 0;
  return shape == TreeShape::binomial ? binomial_down(members, port_s, alpha_s)
                                      : time_up(shape, members, port_s, alpha_s);
}

}  // namespace tributary
