#include "core/round/coordinator/context/upload_budget.h"

#include <algorithm>

#include "schemas/limits.h"

namespace tributary {
namespace {

// Smaller parts cost more than 2 % in headers (send_window.h).
constexpr std::uint32_t kPartBytesMin = 16u << 10;
// With more agents than this, connections use a large part of the memory.
constexpr std::size_t kAgentsFew = 128;
// An agent's share of the memory holds this many parts. Half of the memory is for parts in flight.
constexpr std::uint32_t kPartsOfShare = 4;
constexpr std::uint64_t kUnderWayShare = 2;

}  // namespace

UploadBudget::UploadBudget(const CoordinatorConfig& config, std::size_t members,
                           std::uint64_t values)
    : called_(members > 1 && members * values * sizeof(float) > config.incoming_bytes_max),
      incoming_bytes_max_(config.incoming_bytes_max / (members > kAgentsFew ? 4 : 1)) {
  const std::uint64_t agents = std::max<std::uint64_t>(members, 1);
  const std::uint32_t part_most = std::min(config.payload_bytes_max, wire::kPayloadBytesMax);
  part_bytes_ = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(config.incoming_bytes_max / (agents * kPartsOfShare),
                                std::min(kPartBytesMin, part_most), part_most));
  window_ = std::max(config.payloads_in_flight_max, 1u);
  // An agent is called only after memory for its payload was reserved, so the window need not
  // be reduced.
  if (called_) return;
  const std::uint64_t share = config.incoming_bytes_max / (kUnderWayShare * agents * part_bytes_);
  window_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, 1, window_));
}

}  // namespace tributary
