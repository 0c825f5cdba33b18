#include "switch_p4/xdp/job_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tributary::switch_xdp {
namespace {

// Whether the job makes sense. The rules themselves say so; the number of slots is checked apart,
// because they would need the memory of all.
Status check_with_rules(in_network::SlotJob job) {
  job.slots = std::min(job.slots, 1u);
  TRIBUTARY_ASSIGN(in_network::SlotRules rules, in_network::SlotRules::make(1));
  return rules.install(job);
}

XdpJob entry_of(const in_network::SlotJob& job, std::uint32_t first_slot, std::uint32_t instance) {
  XdpJob entry = {};
  entry.instance = instance;
  entry.epoch = job.epoch;
  entry.first_slot = first_slot;
  entry.slots = job.slots;
  entry.handle = job.handle;
  entry.table = job.table;
  entry.agents = static_cast<std::uint8_t>(job.agents);
  entry.wide = job.wide() ? 1 : 0;
  entry.count = static_cast<std::uint16_t>(job.count());
  entry.learns = job.sources.empty() ? 1 : 0;
  std::ranges::copy(job.sources, entry.sources);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t high = job.places[byte >> 4];
    entry.places[byte] = job.places[byte & 15] | high << (job.wide() ? 16 : 8);
  }
  return entry;
}

}  // namespace

std::uint32_t JobTable::slots_free() const {
  std::uint32_t free = slots_;
  for (const auto& [handle, range] : placed_) free -= range.count;
  return free;
}

// The first gap between the other jobs that is large enough. An epoch with the quota of the one
// before keeps its slots.
Result<std::uint32_t> JobTable::first_free(const in_network::SlotJob& job) const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const auto& [handle, range] : placed_) {
    if (handle != job.handle) {
      used.emplace_back(range.first, range.count);
    } else if (range.count == job.slots) {
      return range.first;
    }
  }
  std::ranges::sort(used);
  used.emplace_back(slots_, 0);
  std::uint32_t begin = 0;
  for (const auto& [first, count] : used) {
    if (first - begin >= job.slots) return begin;
    begin = first + count;
  }
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("slots for job {} of the gateway", job.handle),
                 .expected = fmt::format("{} free in a row", job.slots),
                 .got = fmt::format("{} free of {}", slots_free(), slots_),
                 .remedy = "lower the job's quota, or give the gateway more slots"});
}

std::uint32_t JobTable::next_index() {
  const auto is_used = [this](std::uint32_t index) {
    return std::ranges::any_of(placed_,
                               [&](const auto& item) { return item.second.index == index; });
  };
  do {
    last_index_ = (last_index_ + 1) % kXdpJobs;
  } while (is_used(last_index_));
  return last_index_;
}

Status JobTable::check(const in_network::SlotJob& job) const {
  TRIBUTARY_TRY(check_with_rules(job));
  if (job.slots > slots_) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("job {} of the gateway, slots", job.handle),
                   .expected = fmt::format("1 to {}", slots_),
                   .got = fmt::format("{}", job.slots)});
  }
  const auto known = placed_.find(job.handle);
  if (known != placed_.end() && job.epoch <= known->second.epoch) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("epoch of job {} of the gateway", job.handle),
                   .expected = fmt::format("above {}", known->second.epoch),
                   .got = fmt::format("{}", job.epoch),
                   .remedy = "install a new epoch"});
  }
  if (known == placed_.end() && placed_.size() >= in_network::kJobsMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "jobs of the gateway",
                   .expected = fmt::format("{} at most", in_network::kJobsMax),
                   .remedy = "remove a job first"});
  }
  return first_free(job).status();
}

Result<JobTable::Placed> JobTable::install(const in_network::SlotJob& job) {
  TRIBUTARY_TRY(check(job));
  TRIBUTARY_ASSIGN(const std::uint32_t first, first_free(job));
  const std::uint32_t index = next_index();
  placed_[job.handle] = {.index = index, .epoch = job.epoch, .first = first, .count = job.slots};
  return Placed{.index = index, .entry = entry_of(job, first, ++instance_)};
}

Status JobTable::remove(std::uint16_t handle) {
  if (placed_.erase(handle) != 0) return {};
  return Status(StatusCode::not_found, {.what = fmt::format("job {} of the gateway", handle)});
}

}  // namespace tributary::switch_xdp
