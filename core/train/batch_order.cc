#include "core/train/batch_order.h"

#include <numeric>
#include <utility>

#include "core/base/bytes/bytes.h"
#include "core/base/bytes/checksum.h"
#include "core/base/random.h"

namespace tributary {

BatchOrder::BatchOrder(std::uint64_t job_seed, std::string_view agent_id, std::uint32_t count)
    : job_seed_(job_seed),
      agent_(checksum32(bytes_of(agent_id)) & 0x7fff'ffffu),  // 31 bits: never kSharedDraw
      order_(count) {}

// Fisher-Yates shuffle. A multiplication replaces the remainder: it is much faster, and its bias is
// negligible here.
void BatchOrder::shuffle(std::uint64_t pass) {
  const StreamKey key = stream_key(
      {.job_seed = job_seed_, .round = pass, .purpose = DrawPurpose::data_shard, .agent = agent_});
  std::iota(order_.begin(), order_.end(), 0u);
  for (auto left = static_cast<std::uint32_t>(order_.size()); left > 1; --left) {
    const std::uint64_t bits = random_bits(key, left);
    std::swap(order_[left - 1], order_[static_cast<std::uint32_t>(bits * left >> 32)]);
  }
  pass_ = pass;
}

void BatchOrder::indices(std::uint64_t first, std::uint32_t batch,
                         std::vector<std::uint32_t>& out) {
  out.clear();
  for (std::uint64_t at = first; at < first + batch; ++at) {
    if (at / order_.size() != pass_) shuffle(at / order_.size());
    out.push_back(order_[at % order_.size()]);
  }
}

}  // namespace tributary
