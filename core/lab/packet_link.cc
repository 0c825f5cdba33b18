#include "core/lab/packet_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/random.h"
#include "core/lab/segments.h"
#include "core/lab/wire_bytes.h"

namespace tributary {

namespace {

// Streams of draws, in addition to those of the shaper.
constexpr std::uint32_t kReorder = 2;
constexpr std::uint32_t kLoss = 3;

}  // namespace

Result<PacketLink> PacketLink::make(const PacketLinkOptions& options) {
  for (const double share : {options.loss, options.reorder}) {
    if (share >= 0 && share <= 1) continue;
    return Status(StatusCode::invalid_argument, {.what = "loss and reordering of a link",
                                                 .expected = "shares from 0 to 1",
                                                 .got = fmt::format("{}", share),
                                                 .remedy = {}});
  }
  TRIBUTARY_ASSIGN(const Shaper shaper, Shaper::make({.delay = options.delay,
                                                      .jitter = options.jitter,
                                                      .bytes_per_s = options.bytes_per_s,
                                                      .burst_bytes = 0,
                                                      .loss = 0,
                                                      .seed = options.seed,
                                                      .stream = options.stream}));
  return PacketLink(options, shaper);
}

PacketLink::PacketLink(const PacketLinkOptions& options, const Shaper& shaper)
    : options_(options), shaper_(shaper) {}

void PacketLink::change(Time delay, std::uint64_t bytes_per_s, double loss,
                        std::uint64_t queue_bytes) {
  options_.delay = delay;
  options_.bytes_per_s = bytes_per_s;
  options_.loss = loss;
  options_.queue_bytes = queue_bytes;
  shaper_.change(delay, bytes_per_s, 0);
}

// The bytes that wait are the time until the link is free, times the rate. Without a rate only the
// memory bound counts.
bool PacketLink::queue_is_full(Time now) const {
  if (held_bytes_ >= kHeldBytesMax) return true;
  if (options_.bytes_per_s == 0 || shaper_.link_free_at() <= now) return false;
  const double wait_s = std::chrono::duration<double>(shaper_.link_free_at() - now).count();
  return wait_s * static_cast<double>(options_.bytes_per_s) >=
         static_cast<double>(options_.queue_bytes);
}

bool PacketLink::happens(double share, std::uint32_t purpose, std::uint64_t number) const {
  const StreamKey key = stream_key({.job_seed = options_.seed,
                                    .round = number >> 32,
                                    .bucket = purpose,
                                    .purpose = DrawPurpose::jitter,
                                    .agent = options_.stream});
  const float draw = uniform_01(random_bits(key, static_cast<std::uint32_t>(number)));
  return static_cast<double>(draw) < share;
}

// Every segment has a number, so a loss does not depend on how segments are grouped in packets.
std::vector<bool> PacketLink::draw_losses(std::uint32_t segments) {
  std::vector<bool> lost;
  for (std::uint32_t i = 0; i < segments; ++i) {
    if (!happens(options_.loss, kLoss, segments_put_ + i)) continue;
    lost.resize(segments, false);
    lost[i] = true;
    ++counts_.lost;
  }
  segments_put_ += segments;
  return lost;
}

void PacketLink::put(Time now, LinkPacket packet) {
  if (queue_is_full(now)) {
    ++counts_.overflowed;
    return;
  }
  Time due = *shaper_.arrival(now, packet.wire_bytes);
  if (options_.reorder > 0 && happens(options_.reorder, kReorder, packets_put_++)) {
    // The packet skips the delay, but not its time at the rate.
    due -= options_.delay;
    ++counts_.reordered;
  }
  const std::vector<bool> lost =
      options_.loss > 0 ? draw_losses(packet.segments) : std::vector<bool>();
  if (lost.empty()) {
    hold(due, std::move(packet));
  } else if (packet.segments > 1) {
    for (Bytes& piece : without_segments(packet.bytes, lost)) {
      const WireSize wire = wire_size(piece);
      hold(due, {.bytes = std::move(piece), .wire_bytes = wire.bytes, .segments = wire.segments});
    }
  }
}

void PacketLink::hold(Time due, LinkPacket packet) {
  held_bytes_ += packet.bytes.size();
  held_.push_back({.due = due, .number = packets_held_++, .packet = std::move(packet)});
  std::ranges::push_heap(held_, Later{});
}

std::optional<PacketLink::Time> PacketLink::next_due() const {
  if (held_.empty()) return std::nullopt;
  return held_.front().due;
}

std::optional<PacketLink::Out> PacketLink::take(Time now) {
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
