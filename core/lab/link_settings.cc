#include "core/lab/link_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "core/base/nearest.h"

namespace tributary {
namespace {

using std::chrono::nanoseconds;

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 4> kRateUnits = {
    {{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}}};
constexpr std::array<Unit, 4> kTimeUnits = {{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
constexpr std::array<std::string_view, 9> kKeys = {
    "rate", "up-rate", "down-rate", "delay", "jitter", "loss", "reorder", "queue", "trace"};

constexpr double kRateMin = 8e3;  // 1 byte per millisecond
constexpr double kRateMax = 1e12;
constexpr double kDelayMaxNs = 60e9;  // 60 s
// A queue holds at least a little more than one frame, and at most what a relay holds per
// direction.
constexpr std::uint64_t kQueueMin = 1u << 11;
constexpr std::uint64_t kQueueMax = 64u << 20;

Status refuse(std::string expected, std::string_view got, std::string remedy = {}) {
  constexpr std::size_t kShown = 60;
  return Status(StatusCode::invalid_argument, {.what = "value",
                                               .expected = std::move(expected),
                                               .got = fmt::format("'{}'", got.substr(0, kShown)),
                                               .remedy = std::move(remedy)});
}

// Removes and returns the number at the beginning of `text`; the unit remains. NaN without a
// number.
double take_number(std::string_view& text) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc()) return std::nan("");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// A decimal number with at most six digits after the point and no trailing zeros.
std::string decimal(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// NaN for an unknown unit, so the range checks of the callers fail.
double factor_of(std::span<const Unit> units, std::string_view name) {
  const auto unit = std::ranges::find(units, name, &Unit::name);
  return unit == units.end() ? std::nan("") : unit->factor;
}

}  // namespace

Result<std::uint64_t> parse_bit_rate(std::string_view text) {
  if (text == "unlimited" || text == "0") return std::uint64_t{0};
  std::string_view unit = text;
  const double number = take_number(unit);
  const double bits = number * factor_of(kRateUnits, unit);
  if (bits >= kRateMin && bits <= kRateMax) return static_cast<std::uint64_t>(std::llround(bits));
  return refuse("a rate from 8kbit to 1000gbit, or unlimited", text,
                "write it as 100mbit or 2.5gbit: bits in a second");
}

Result<nanoseconds> parse_delay(std::string_view text) {
  std::string_view unit = text;
  const double number = take_number(unit);
  const double ns = text == "0" ? 0 : number * factor_of(kTimeUnits, unit);
  if (ns >= 0 && ns <= kDelayMaxNs) return nanoseconds(std::llround(ns));
  return refuse("a time from 0 to 60s", text, "write it as 20ms, 300us or 1.5s");
}

Result<double> parse_share(std::string_view text) {
  std::string_view unit = text;
  double share = take_number(unit);
  if (unit == "%") share /= 100;
  if ((unit.empty() || unit == "%") && share >= 0 && share <= 1) return share;
  return refuse("a share from 0% to 100%", text, "write it as 1% or 0.01");
}

namespace {

Status set_rates(LinkSettings& link, std::string_view key, std::string_view value) {
  TRIBUTARY_ASSIGN(const std::uint64_t rate, parse_bit_rate(value));
  if (key != "down-rate") link.up_bits_per_s = rate;
  if (key != "up-rate") link.down_bits_per_s = rate;
  return {};
}

// A queue of 0 bytes means the default.
Status set_queue(LinkSettings& link, std::string_view value) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  if (!whole || (bytes != 0 && (bytes < kQueueMin || bytes > kQueueMax))) {
    return refuse(
        fmt::format("bytes from {} to {}, or 0 for what fits the link", kQueueMin, kQueueMax),
        value);
  }
  link.queue_bytes = bytes;
  return {};
}

Status set_value(LinkSettings& link, std::string_view key, std::string_view value) {
  if (key.ends_with("rate")) return set_rates(link, key, value);
  if (key == "queue") return set_queue(link, value);
  if (key == "delay" || key == "jitter") {
    TRIBUTARY_ASSIGN((key == "delay" ? link.delay : link.jitter), parse_delay(value));
  } else if (key == "trace") {
    if (value.empty()) return refuse("the name of a file", value);
    link.trace = value;
  } else {
    TRIBUTARY_ASSIGN((key == "loss" ? link.loss : link.reorder), parse_share(value));
  }
  return {};
}

}  // namespace

Status set_link(LinkSettings& link, std::string_view key, std::string_view value) {
  if (std::ranges::find(kKeys, key) == kKeys.end()) {
    return Status(StatusCode::invalid_argument, {.what = fmt::format("setting '{}'", key),
                                                 .expected = "one that a link has",
                                                 .got = "an unknown one",
                                                 .remedy = did_you_mean(key, kKeys)});
  }
  return set_value(link, key, value).at(fmt::format("setting '{}'", key));
}

Status set_link(LinkSettings& link, std::string_view settings) {
  while (!settings.empty()) {
    const std::string_view setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(settings.size(), setting.size() + 1));
    const std::size_t equals = setting.find('=');
    if (equals == setting.npos) return refuse("KEY=VALUE,KEY=VALUE", setting);
    TRIBUTARY_TRY(set_link(link, setting.substr(0, equals), setting.substr(equals + 1)));
  }
  return {};
}

Result<NodeSettings> parse_node_settings(std::string_view text) {
  NodeSettings node;
  const std::size_t colon = text.find(':');
  const std::string_view number = text.substr(0, colon);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), node.node);
  if (colon == text.npos || error != std::errc() || end != number.data() + number.size()) {
    return refuse("NODE:KEY=VALUE,KEY=VALUE", text, "write it as 2:rate=10mbit,delay=50ms");
  }
  node.settings = text.substr(colon + 1);
  // The settings are only checked here; plan_lab() applies them over the common ones.
  LinkSettings tried;
  TRIBUTARY_TRY(set_link(tried, node.settings));
  return node;
}

Status check_link(const LinkSettings& link) {
  if (link.reorder > 0 && link.delay == nanoseconds(0) && link.trace.empty()) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting 'reorder'",
                   .expected = "a delay, which some packets skip and so overtake others",
                   .got = "none",
                   .remedy = "add delay, for example delay=10ms"});
  }
  const bool other = link.up_bits_per_s != 0 || link.down_bits_per_s != 0 ||
                     link.delay.count() != 0 || link.loss > 0;
  if (!link.trace.empty() && other) {
    return Status(StatusCode::invalid_argument,
                  {.what = "setting 'trace'",
                   .expected = "rate, delay and loss from the trace alone",
                   .got = "some of them beside it",
                   .remedy = "leave them out, or the trace"});
  }
  return {};
}

bool needs_user_space(const LinkSettings& link) {
  return link.delay.count() > 0 || link.jitter.count() > 0 || link.loss > 0 || link.reorder > 0 ||
         !link.trace.empty();
}

std::string link_text(const LinkSettings& link) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string_view key, double value, std::string_view unit) {
    if (const std::string number = decimal(value); number != "0") {
      parts.push_back(fmt::format("{}={}{}", key, number, unit));
    }
  };
  const bool is_symmetric = link.up_bits_per_s == link.down_bits_per_s;
  add(is_symmetric ? "rate" : "up-rate", static_cast<double>(link.up_bits_per_s) / 1e6, "mbit");
  if (!is_symmetric) add("down-rate", static_cast<double>(link.down_bits_per_s) / 1e6, "mbit");
  add("delay", static_cast<double>(link.delay.count()) / 1e6, "ms");
  add("jitter", static_cast<double>(link.jitter.count()) / 1e6, "ms");
  add("loss", link.loss * 100, "%");
  add("reorder", link.reorder * 100, "%");
  add("queue", static_cast<double>(link.queue_bytes), "");
  if (!link.trace.empty()) parts.push_back(fmt::format("trace={}", link.trace));
  return parts.empty() ? "unlimited" : fmt::format("{}", fmt::join(parts, ","));
}

std::uint64_t queue_bytes_for(const LinkSettings& link, std::uint64_t bits_per_s,
                              std::uint32_t mtu_bytes) {
  if (link.queue_bytes != 0) return link.queue_bytes;
  constexpr double kLeastS = 0.010;
  constexpr double kLinksPerRoundTrip = 4;
  const double bytes_per_s = static_cast<double>(bits_per_s) / 8;
  const double seconds =
      kLeastS + kLinksPerRoundTrip * static_cast<double>(link.delay.count()) / 1e9;
  // The default queue length of Linux before an interface. A TCP window has several segments even
  // on a slow link, and each connection has its own: 10 ms at 10 Mbit/s are less than one initial
  // window.
  constexpr double kUsualPackets = 1000;
  constexpr double kUsualS = 0.2;
  const double frame_bytes = mtu_bytes + kFrameHeaderBytes;
  const double bytes =
      std::max(bytes_per_s * seconds, std::min(bytes_per_s * kUsualS, kUsualPackets * frame_bytes));
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(std::min(bytes, double{kQueueMax})),
                                 16ull * (mtu_bytes + kFrameHeaderBytes));
}

}  // namespace tributary
