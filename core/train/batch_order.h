// The order in which an agent's examples are used. Training passes over the data again and again,
// each time in another order. The order is a pure function of the position, so a restarted agent
// continues at the same position and nothing has to be stored.
//
// The object holds one permutation (4 bytes per example) and is used by one thread. A call that
// enters another pass shuffles all examples.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tributary {

class BatchOrder {
 public:
  // `count` is the number of examples, at least 1. Agents of one job have different orders.
  BatchOrder(std::uint64_t job_seed, std::string_view agent_id, std::uint32_t count);

  // Writes the examples at positions [first, first + batch) of the endless sequence of passes.
  // Positions may be requested in any order; ascending order is the fast one.
  void indices(std::uint64_t first, std::uint32_t batch, std::vector<std::uint32_t>& out);

 private:
  void shuffle(std::uint64_t pass);

  const std::uint64_t job_seed_;
  const std::uint32_t agent_;
  std::uint64_t pass_ = ~std::uint64_t{0};  // pass to which order_ belongs; initially none
  std::vector<std::uint32_t> order_;
};

}  // namespace tributary
