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
  if (const std::optional<ExchangeTree> tree = tree_of(collective)) {
    return Routes(collective, members, *tree);
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
  if (tree_.shape != TreeShape::chain) {
    TreePlace place = down(root, member);
    if (tree_.shape == TreeShape::binomial) std::ranges::reverse(place.children);
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
  switch (tree_.shape) {
    case TreeShape::direct:
      if (d != 0) place.parent = root;
      for (std::uint32_t i = 1; d == 0 && i < members_; ++i) place.children.push_back(at(root, i));
      break;
    case TreeShape::chain:
      if (d != 0) place.parent = at(member, members_ - 1);
      if (d + 1 < members_) place.children = {at(member, 1)};
      break;
    case TreeShape::binomial:
      // The parent of d is d without its lowest bit.
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
  switch (tree_.shape) {
    case TreeShape::direct:
      return 1;
    case TreeShape::chain:
      return d;
    case TreeShape::binomial:
      return std::min(d & (~d + 1), members_ - d);
  }
  return 1;
}

}  // namespace tributary
