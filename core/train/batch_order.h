// Which examples a step sees: pass after pass over the data, each in an order of its own, as a pure
// function of the position. A restart goes on where it was, and nothing has to be stored.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tributary {

class BatchOrder {
 public:
  // `count` examples, at least one.
  BatchOrder(std::uint64_t job_seed, std::string_view agent_id, std::uint32_t count);

  // The examples at positions [first, first + batch) of the endless sequence of passes.
  void indices(std::uint64_t first, std::uint32_t batch, std::vector<std::uint32_t>& out);

 private:
  void shuffle(std::uint64_t pass);

  const std::uint64_t job_seed_;
  const std::uint32_t agent_;
  std::uint64_t pass_ = ~std::uint64_t{0};  // that order_ is of
  std::vector<std::uint32_t> order_;
};

}  // namespace tributary
