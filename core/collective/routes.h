// The paths of payloads between members. Every bucket has an owner. Every collective is a tree that
// spans all members: partial sums go up to the owner, and the result goes down from it.
//
//   collective        tree                          owner
//   star              direct: all to the root       member 0
//   sharded_star      direct                        bucket mod members
//   ring              a chain, member to the next   bucket mod members
//   tree              binomial                      member 0
//   halving_doubling  binomial                      bucket mod members
//   all_gather        direct, from every member     none: all payloads go to all members
//
// In any tree, each member but the owner sends a bucket once up and receives it once down. If
// owners alternate, all members send and receive the same amount, which is the minimum. Classic
// algorithms reach it by dividing an array; here the buckets are the parts. Binomial trees with
// alternating roots are recursive halving and doubling, for any number of members.
//
// A Routes object is a few words, immutable, and may be shared between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "core/cost/exchange_shape.h"
#include "schemas/frame_generated.h"

namespace tributary {

// A member's neighbours in a tree.
struct TreePlace {
  std::optional<std::uint32_t> parent;  // empty at the root
  std::vector<std::uint32_t> children;  // in the order in which their payloads are added
};

// The paths of one collective among a fixed number of members.
class Routes {
 public:
  // Fails with invalid_argument (0 members, or more than wire::kMembersMax) or unsupported
  // (collective).
  static Result<Routes> make(wire::Collective collective, std::uint32_t members);

  std::uint32_t members() const { return members_; }
  // True if payloads that could be combined on the path go to every member instead.
  bool spreads() const { return collective_ == wire::Collective::all_gather; }

  std::uint32_t owner(std::uint32_t bucket) const {
    return tree_.owners_take_turns ? bucket % members_ : 0;
  }
  TreePlace up(std::uint32_t root, std::uint32_t member) const;
  // The place of `member` in the tree for results with this root.
  TreePlace down(std::uint32_t root, std::uint32_t member) const;
  // Number of members whose payloads are contained in the one that this member sends up.
  std::uint32_t combined_at(std::uint32_t root, std::uint32_t member) const;

 private:
  Routes(wire::Collective collective, std::uint32_t members, ExchangeTree tree)
      : collective_(collective), members_(members), tree_(tree) {}
  std::uint32_t distance(std::uint32_t root, std::uint32_t member) const {
    return (member + members_ - root) % members_;
  }
  std::uint32_t at(std::uint32_t root, std::uint32_t distance) const {
    return (root + distance) % members_;
  }

  wire::Collective collective_;
  std::uint32_t members_;
  ExchangeTree tree_;
};

}  // namespace tributary
