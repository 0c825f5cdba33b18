#include "core/collective/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "schemas/limits.h"

namespace tributary {

Result<Routes> Routes::make(wire::Collective collective, std::uint32_t members) {
  if (members == 0 || members > wire::kMembersMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "members of an exchange",
                   .expected = fmt::format("1 to {}", wire::kMembersMax),
                   .got = fmt::format("{}", members)});
  }
  switch (collective) {
    case wire::Collective::star:
      return Routes(collective, members, Shape::direct, false);
    case wire::Collective::sharded_star:
    case wire::Collective::all_gather:
      return Routes(collective, members, Shape::direct, true);
    case wire::Collective::ring:
      return Routes(collective, members, Shape::chain, true);
    case wire::Collective::tree:
      return Routes(collective, members, Shape::binomial, false);
    case wire::Collective::halving_doubling:
      return Routes(collective, members, Shape::binomial, true);
    default:
      break;
  }
  return Status(StatusCode::unsupported,
                {.what = "collective among peers",
                 .expected = "star, sharded_star, ring, tree, halving_doubling or all_gather",
                 .got = wire::EnumNameCollective(collective),
                 .remedy = "choose another in the job's settings"});
}

// In a chain, partial sums start at the member after the root and go around to it. Results take the
// same links, so a ring needs no others.
TreePlace Routes::up(std::uint32_t root, std::uint32_t member) const {
  if (shape_ != Shape::chain) {
    TreePlace place = down(root, member);
    if (shape_ == Shape::binomial) std::ranges::reverse(place.children);
    return place;
  }
  TreePlace place;
  const std::uint32_t d = distance(root, member);
  if (d != 0) place.parent = at(member, 1);
  if (d != 1 && members_ > 1) place.children = {at(member, members_ - 1)};
  return place;
}

TreePlace Routes::down(std::uint32_t root, std::uint32_t member) const {
  TreePlace place;
  const std::uint32_t d = distance(root, member);
  switch (shape_) {
    case Shape::direct:
      if (d != 0) place.parent = root;
      for (std::uint32_t i = 1; d == 0 && i < members_; ++i) place.children.push_back(at(root, i));
      break;
    case Shape::chain:
      if (d != 0) place.parent = at(member, members_ - 1);
      if (d + 1 < members_) place.children = {at(member, 1)};
      break;
    case Shape::binomial:
      // The parent of distance d is d without its lowest bit.
      if (d != 0) place.parent = at(root, d & (d - 1));
      for (std::uint32_t bit = 1; d + bit < members_ && (d & bit) == 0; bit <<= 1) {
        place.children.push_back(at(root, d + bit));
      }
      // On the way down, the child with the largest subtree is first, because its path is the
      // longest. On the way up it is last, because its sum arrives last.
      std::ranges::reverse(place.children);
      break;
  }
  return place;
}

// The size of the member's subtree. In a binomial tree it is the lowest bit of the distance, cut at
// the number of members.
std::uint32_t Routes::combined_at(std::uint32_t root, std::uint32_t member) const {
  const std::uint32_t d = distance(root, member);
  if (d == 0) return members_;
  switch (shape_) {
    case Shape::direct:
      return 1;
    case Shape::chain:
      return d;
    case Shape::binomial:
      return std::min(d & (~d + 1), members_ - d);
  }
  return 1;
}

}  // namespace tributary
