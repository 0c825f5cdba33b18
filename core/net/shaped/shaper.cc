#include "core/net/shaped/shaper.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

constexpr std::uint32_t kLossDraw = 0;
constexpr std::uint32_t kJitter = 1;
constexpr std::chrono::nanoseconds kDelayMax = std::chrono::hours(1);
constexpr std::uint64_t kBytesMax = 1ull << 40;

Status out_of_range(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::invalid_argument,
                {.what = std::move(what), .expected = std::move(expected), .got = std::move(got)});
}

}  // namespace

Result<Shaper> Shaper::make(const ShapeOptions& options) {
  for (const Time time : {options.delay, options.jitter}) {
    if (time >= Time(0) && time <= kDelayMax) continue;
    return out_of_range("a line's delay", "0 to an hour", fmt::format("{} ns", time.count()));
  }
  if (!(options.loss >= 0 && options.loss <= 1)) {
    return out_of_range("a line's loss", "a share from 0 to 1", fmt::format("{}", options.loss));
  }
  if (options.burst_bytes > kBytesMax || options.bytes_per_s > kBytesMax) {
    return out_of_range("rate and burst of a link", fmt::format("at most {} bytes", kBytesMax),
                        "more");
  }
  return Shaper(options);
}

Shaper::Shaper(const ShapeOptions& options) : options_(options) {}

void Shaper::change(Time delay, std::uint64_t bytes_per_s, double loss) {
  options_.delay = delay;
  options_.bytes_per_s = bytes_per_s;
  options_.loss = loss;
}

// Draws depend on the number of the message and not on time, so a repeated run loses the same
// messages.
std::uint32_t Shaper::draw(std::uint32_t purpose) const {
  const StreamKey key = stream_key({.job_seed = options_.seed,
                                    .round = message_ >> 32,
                                    .bucket = purpose,
                                    .purpose = DrawPurpose::jitter,
                                    .agent = options_.stream});
  return random_bits(key, static_cast<std::uint32_t>(message_));
}

Shaper::Time Shaper::time_for(std::uint64_t bytes) const {
  if (options_.bytes_per_s == 0) return Time(0);
  const double seconds = static_cast<double>(bytes) / static_cast<double>(options_.bytes_per_s);
  return std::chrono::duration_cast<Time>(std::chrono::duration<double>(seconds));
}

std::optional<Shaper::Time> Shaper::arrival(Time now, std::size_t bytes) {
  return arrival(now, bytes, options_.burst_bytes);
}

std::optional<Shaper::Time> Shaper::arrival_of_last_byte(Time now, std::size_t bytes) {
  return arrival(now, bytes, std::max<std::uint64_t>(options_.burst_bytes, bytes));
}

std::optional<Shaper::Time> Shaper::arrival(Time now, std::uint64_t bytes, std::uint64_t at_once) {
  Time leaves = now;
  if (options_.bytes_per_s > 0) {
    // A full token bucket is equal to a link that has been idle for the time of a burst.
    // link_free_at_ is the time at which the link has sent everything before; it may lie in the
    // past by at most one burst.
    link_free_at_ = std::max(link_free_at_, now - time_for(at_once)) + time_for(bytes);
    leaves = std::max(now, link_free_at_);
  }
  const bool lost = static_cast<double>(uniform_01(draw(kLossDraw))) < options_.loss;
  const Time more(static_cast<Time::rep>(static_cast<double>(options_.jitter.count()) *
                                         static_cast<double>(uniform_01(draw(kJitter)))));
  ++message_;
  if (lost) return std::nullopt;
  // Never before the previous message: jitter delays messages and does not reorder them.
  last_arrival_ = std::max(last_arrival_, leaves + options_.delay + more);
  return last_arrival_;
}

}  // namespace tributary
