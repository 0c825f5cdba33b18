#include "core/codec/thc/levels.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/base/bytes/checksum.h"

namespace tributary::thc {
namespace {

// Number of tables to cache; a full cache is emptied.
constexpr std::size_t kKeptMax = 256;

}  // namespace

Levels::Levels(const TablePlan& plan, unsigned level_bits)
    : bits(level_bits),
      sum_bits(plan.sum_bits),
      same_width(plan.sum_bits_given),
      granularity(plan.granularity),
      threshold(static_cast<float>(plan.threshold)),
      own_error(thc::own_error(plan)) {
  const std::size_t count = plan.levels.size();
  // The table is repeated, so that a look-up of a byte with unused bits stays within it.
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = plan.levels[i % count];
  std::size_t level = 0;
  for (std::uint32_t cell = 0; cell <= granularity; ++cell) {
    while (level + 2 < count && plan.levels[level + 1] <= cell) ++level;
    const std::uint16_t lower = plan.levels[level];
    const auto gap = static_cast<std::uint16_t>(plan.levels[level + 1] - lower);
    cells[cell] = {static_cast<std::uint8_t>(level), lower, gap};
    packed_cells[cell] =
        static_cast<std::uint32_t>(level) | std::uint32_t{lower} << 8 | std::uint32_t{gap} << 20;
    if (cell < level_of_cell.size()) level_of_cell[cell] = static_cast<std::uint8_t>(level);
    if (level >= gap_of_level.size()) continue;
    up_from_of_level[level] = least_to_go_up(cells[cell]);
    gap_of_level[level] = gap_per_draw(cells[cell]);
  }
  Checksum checksum;
  checksum.update(bytes_of(std::span<const std::uint16_t>(plan.levels)));
  const std::uint32_t sum = checksum.finish();
  fingerprint = static_cast<std::uint16_t>(sum ^ (sum >> 16));
}

unsigned Levels::sum_bits_of(std::uint32_t contributors) const {
  if (same_width) return sum_bits;
  const auto needed = std::bit_width(std::uint64_t{granularity} * contributors);
  return std::min(sum_bits, static_cast<unsigned>(needed));
}

Result<std::shared_ptr<const Levels>> levels_for(const TableRequest& request) {
  // The lock is held while a table is solved, so that threads that need the same table wait for it
  // and do not solve it again.
  static std::mutex mutex;
  static std::map<TableRequest, std::shared_ptr<const Levels>> kept;
  const std::lock_guard lock(mutex);
  if (const auto found = kept.find(request); found != kept.end()) return found->second;
  TRIBUTARY_ASSIGN(const TablePlan plan, plan_table(request));
  auto levels = std::make_shared<const Levels>(plan, request.bits);
  if (kept.size() >= kKeptMax) kept.clear();
  kept.emplace(request, levels);
  return levels;
}

}  // namespace tributary::thc
