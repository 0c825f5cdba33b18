// Tests of the trees along which pieces travel: they span all members, and both ends of a link
// agree.
#include "core/collective/routes.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace tributary {
namespace {

constexpr wire::Collective kTrees[] = {wire::Collective::star, wire::Collective::sharded_star,
                                       wire::Collective::ring, wire::Collective::tree,
                                       wire::Collective::halving_doubling};

std::uint32_t depth_of(const Routes& routes, std::uint32_t root, std::uint32_t member, bool up) {
  std::uint32_t steps = 0;
  for (std::uint32_t at = member; at != root; ++steps) {
    const TreePlace place = up ? routes.up(root, at) : routes.down(root, at);
    if (!place.parent || steps > routes.members()) return ~0u;
    at = *place.parent;
  }
  return steps;
}

// If a member has a parent, it must be among that parent's children, and vice versa.
TEST(Routes, EveryTreeSpansAllMembersAndBothEndsOfALinkAgree) {
  for (const wire::Collective collective : kTrees) {
    for (std::uint32_t n = 1; n <= 33; ++n) {
      const Routes routes = *Routes::make(collective, n);
      for (std::uint32_t root = 0; root < n; ++root) {
        for (const bool up : {true, false}) {
          std::set<std::uint32_t> reached = {root};
          for (std::uint32_t m = 0; m < n; ++m) {
            const TreePlace place = up ? routes.up(root, m) : routes.down(root, m);
            EXPECT_EQ(place.parent.has_value(), m != root);
            for (const std::uint32_t child : place.children) {
              EXPECT_TRUE(reached.insert(child).second);
              const TreePlace below = up ? routes.up(root, child) : routes.down(root, child);
              EXPECT_EQ(below.parent, m);
            }
            EXPECT_LT(depth_of(routes, root, m, up), n);
          }
          EXPECT_EQ(reached.size(), n);
        }
      }
    }
  }
}

// combined_at() equals the size of the subtree, counted by walking the tree.
TEST(Routes, AMemberCombinesItsSubtree) {
  for (const wire::Collective collective : kTrees) {
    for (std::uint32_t n = 1; n <= 33; ++n) {
      const Routes routes = *Routes::make(collective, n);
      for (std::uint32_t m = 0; m < n; ++m) {
        const std::uint32_t root = n / 2;
        std::uint32_t below = 1;
        for (const std::uint32_t child : routes.up(root, m).children) {
          below += routes.combined_at(root, child);
        }
        EXPECT_EQ(routes.combined_at(root, m), below);
      }
    }
  }
}

TEST(Routes, Depths) {
  for (std::uint32_t n = 1; n <= 33; ++n) {
    const auto deepest = [n](wire::Collective collective) {
      const Routes routes = *Routes::make(collective, n);
      std::uint32_t depth = 0;
      for (std::uint32_t m = 0; m < n; ++m) depth = std::max(depth, depth_of(routes, 0, m, true));
      return depth;
    };
    EXPECT_EQ(deepest(wire::Collective::sharded_star), n > 1 ? 1u : 0u);
    EXPECT_EQ(deepest(wire::Collective::ring), n - 1);
    EXPECT_LE(deepest(wire::Collective::tree), std::bit_width(n - 1));
  }
}

TEST(Routes, OwnersTakeTurns) {
  const Routes ring = *Routes::make(wire::Collective::ring, 3);
  EXPECT_EQ(ring.owner(0), 0u);
  EXPECT_EQ(ring.owner(5), 2u);
  EXPECT_EQ(Routes::make(wire::Collective::tree, 3)->owner(5), 0u);
  EXPECT_TRUE(Routes::make(wire::Collective::all_gather, 3)->spreads());
}

TEST(Routes, ARingNeedsOnlyItsOwnLinks) {
  const Routes ring = *Routes::make(wire::Collective::ring, 5);
  for (std::uint32_t root = 0; root < 5; ++root) {
    for (std::uint32_t m = 0; m < 5; ++m) {
      const std::uint32_t next = (m + 1) % 5;
      if (m != root) {
        EXPECT_EQ(ring.up(root, m).parent, next);
      }
      for (const std::uint32_t child : ring.down(root, m).children) EXPECT_EQ(child, next);
    }
  }
}

TEST(Routes, RefusesCollectivesThatPeersCannotRun) {
  EXPECT_EQ(Routes::make(wire::Collective::in_network, 4).status().code(), StatusCode::unsupported);
  EXPECT_EQ(Routes::make(wire::Collective::unspecified, 4).status().code(),
            StatusCode::unsupported);
  EXPECT_EQ(Routes::make(wire::Collective::ring, 0).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tributary
