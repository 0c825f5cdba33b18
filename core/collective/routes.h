// The ways that payloads take between members. Every bucket has an owner, and every way of
// exchanging is a tree that spans all members: partial sums go up to the owner, the result comes
// down from it.
//
//   collective        tree                          owner
//   star              direct: all to the root       member 0
//   sharded_star      direct                        bucket mod members
//   ring              a chain, member to the next   bucket mod members
//   tree              binomial                      member 0
//   halving_doubling  binomial                      bucket mod members
//   all_gather        direct, from everybody        nobody: all payloads come to all
//
// In any tree each member but the owner sends a bucket once up and gets it once down. With owners
// that take turns all members send and receive as much, the least that there is: what the classic
// algorithms reach by cutting an array is had here by there being many buckets. Binomial trees
// whose root takes turns are recursive halving and doubling, for any number of members.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/status.h"
#include "core/cost/exchange_shape.h"
#include "schemas/frame_generated.h"

namespace tributary {

struct TreePlace {
  std::optional<std::uint32_t> parent;  // none: this is the root
  std::vector<std::uint32_t> children;  // in the order in which what they bring is added
};

class Routes {
 public:
  static Result<Routes> make(wire::Collective collective, std::uint32_t members);

  std::uint32_t members() const { return members_; }
  // Whether payloads that could be combined on the way all go to everybody instead.
  bool spreads() const { return collective_ == wire::Collective::all_gather; }

  std::uint32_t owner(std::uint32_t bucket) const {
    return tree_.owners_take_turns ? bucket % members_ : 0;
  }
  TreePlace up(std::uint32_t root, std::uint32_t member) const;
  TreePlace down(std::uint32_t root, std::uint32_t member) const;
  // How many members' payloads are in what this one sends up, its own included.
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
