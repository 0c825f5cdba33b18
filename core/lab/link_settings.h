// What somebody wants a node's link to be like, as words: rate=10mbit,delay=50ms,loss=1%.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

constexpr std::uint32_t kFrameHeaderBytes = 14;  // of Ethernet, beside what an MTU counts

struct LinkSettings {
  std::uint64_t up_bits_per_s = 0;  // from the node; 0: as fast as it goes
  std::uint64_t down_bits_per_s = 0;
  std::chrono::nanoseconds delay{0};   // of every packet, in each direction
  std::chrono::nanoseconds jitter{0};  // up to so much more; order is kept
  double loss = 0;                     // share of packets, in each direction
  double reorder = 0;                  // share of packets that skip the delay
  std::uint64_t queue_bytes = 0;       // that may wait for the rate; 0: queue_bytes_for() says
  std::string trace;                   // a file of steps (core/net/shaped/trace.h)

  friend bool operator==(const LinkSettings&, const LinkSettings&) = default;
};

// "100mbit", "2.5gbit", "64kbit", "9600bit"; "unlimited" and "0" are as fast as it goes.
Result<std::uint64_t> parse_bit_rate(std::string_view text);
// "20ms", "1.5s", "300us", "0".
Result<std::chrono::nanoseconds> parse_delay(std::string_view text);
// "1%" or "0.01".
Result<double> parse_share(std::string_view text);

// One setting; the keys are rate (both directions), up-rate, down-rate, delay, jitter, loss,
// reorder, queue and trace.
Status set_link(LinkSettings& link, std::string_view key, std::string_view value);

// KEY=VALUE,KEY=VALUE over what `link` says already.
Status set_link(LinkSettings& link, std::string_view settings);

// What one node alone is told: "2:rate=10mbit,delay=50ms".
struct NodeSettings {
  std::uint32_t node = 0;
  std::string settings;
};
Result<NodeSettings> parse_node_settings(std::string_view text);

// What only becomes clear when all is said: reordering needs a delay to skip.
Status check_link(const LinkSettings& link);

// The kernel at hand shapes rates; the rest needs a link of our own.
bool needs_user_space(const LinkSettings& link);

// Every setting that is not the default, as set_link() takes them; "unlimited" when there is none.
std::string link_text(const LinkSettings& link);

// Bytes that may wait at a link of this rate: those of 1000 whole frames, but no more than it
// carries in 200 ms; those of 10 ms and of the time that a packet takes over two such links and
// back, where that is more; and never less than 16 frames.
std::uint64_t queue_bytes_for(const LinkSettings& link, std::uint64_t bits_per_s,
                              std::uint32_t mtu_bytes);

}  // namespace tributary
