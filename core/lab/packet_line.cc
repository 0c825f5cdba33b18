#include "core/lab/packet_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/random.h"

namespace tributary {

namespace {

constexpr std::uint32_t kReorder = 2;  // beside the shaper's draws for loss and jitter

}  // namespace

Result<PacketLine> PacketLine::make(const PacketLineOptions& options) {
  if (!(options.reorder >= 0 && options.reorder <= 1)) {
    return Status(StatusCode::invalid_argument, {.what = "a line's reordering",
                                                 .expected = "a share from 0 to 1",
                                                 .got = fmt::format("{}", options.reorder),
                                                 .remedy = {}});
  }
  TRIBUTARY_ASSIGN(const Shaper shaper, Shaper::make({.delay = options.delay,
                                                      .jitter = options.jitter,
                                                      .bytes_per_s = options.bytes_per_s,
                                                      .burst_bytes = 0,
                                                      .loss = options.loss,
                                                      .seed = options.seed,
                                                      .stream = options.stream}));
  return PacketLine(options, shaper);
}

PacketLine::PacketLine(const PacketLineOptions& options, const Shaper& shaper)
    : options_(options), shaper_(shaper) {}

void PacketLine::change(Time delay, std::uint64_t bytes_per_s, double loss,
                        std::uint64_t queue_bytes) {
  options_.delay = delay;
  options_.bytes_per_s = bytes_per_s;
  options_.loss = loss;
  options_.queue_bytes = queue_bytes;
  shaper_.change(delay, bytes_per_s, loss);
}

bool PacketLine::queue_is_full(Time now) const {
  if (held_bytes_ >= kHeldBytesMax) return true;
  if (options_.bytes_per_s == 0 || shaper_.line_free_at() <= now) return false;
  const double wait_s = std::chrono::duration<double>(shaper_.line_free_at() - now).count();
  return wait_s * static_cast<double>(options_.bytes_per_s) >=
         static_cast<double>(options_.queue_bytes);
}

bool PacketLine::skips_the_delay() {
  const StreamKey key = stream_key({.job_seed = options_.seed,
                                    .round = number_ >> 32,
                                    .bucket = kReorder,
                                    .purpose = DrawPurpose::jitter,
                                    .agent = options_.stream});
  const auto draw = uniform_01(random_bits(key, static_cast<std::uint32_t>(number_)));
  return static_cast<double>(draw) < options_.reorder;
}

void PacketLine::put(Time now, LinePacket packet) {
  if (queue_is_full(now)) {
    ++counts_.overflowed;
    return;
  }
  const std::optional<Time> arrival = shaper_.arrival(now, packet.wire_bytes);
  const bool skips = options_.reorder > 0 && skips_the_delay();
  const std::uint64_t number = number_++;
  if (!arrival) {
    ++counts_.lost;
    return;
  }
  if (skips) ++counts_.reordered;
  held_bytes_ += packet.bytes.size();
  held_.push_back({.due = skips ? *arrival - options_.delay : *arrival,
                   .number = number,
                   .packet = std::move(packet)});
  std::ranges::push_heap(held_, Later{});
}

std::optional<PacketLine::Time> PacketLine::next_due() const {
  if (held_.empty()) return std::nullopt;
  return held_.front().due;
}

std::optional<PacketLine::Out> PacketLine::take(Time now) {
  if (held_.empty() || held_.front().due > now) return std::nullopt;
  std::ranges::pop_heap(held_, Later{});
  Out out = {.due = held_.back().due, .packet = std::move(held_.back().packet)};
  held_.pop_back();
  held_bytes_ -= out.packet.bytes.size();
  ++counts_.packets;
  counts_.wire_bytes += out.packet.wire_bytes;
  return out;
}

}  // namespace tributary
