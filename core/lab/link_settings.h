// Settings of a node's link as text: rate=10mbit,delay=50ms,loss=1%. The functions are pure; a
// value that cannot be parsed is invalid_argument.
//
// The same text is used on the command line, in the state of a running lab and in its listing:
// link_text() of parsed settings gives the same settings again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace tributary {

constexpr std::uint32_t kFrameHeaderBytes = 14;  // Ethernet header, which an MTU does not count

// One node's link to the bridge. Both directions have the same delay, jitter, loss and reordering.
struct LinkSettings {
  std::uint64_t up_bits_per_s = 0;  // from the node; 0: unlimited
  // To the node; 0: unlimited.
  std::uint64_t down_bits_per_s = 0;
  std::chrono::nanoseconds delay{0};   // added to every packet, in each direction
  std::chrono::nanoseconds jitter{0};  // up to this much more delay; packets stay in order
  double loss = 0;                     // share of packets, 0 to 1, in each direction
  double reorder = 0;                  // share of packets, 0 to 1, that skip the delay
  std::uint64_t queue_bytes = 0;       // capacity of the queue for the rate; 0: queue_bytes_for()
  std::string trace;                   // path of a file of steps (core/net/shaped/trace.h)

  friend bool operator==(const LinkSettings&, const LinkSettings&) = default;
};

// Bits per second of "100mbit", "2.5gbit", "64kbit" or "9600bit"; 0 for "unlimited" and "0".
Result<std::uint64_t> parse_bit_rate(std::string_view text);
// A time up to 60 s: "20ms", "1.5s", "300us", "0".
Result<std::chrono::nanoseconds> parse_delay(std::string_view text);
// A share from 0 to 1: "1%" or "0.01".
Result<double> parse_share(std::string_view text);

// Sets one value. The keys are rate (both directions), up-rate, down-rate, delay, jitter, loss,
// reorder, queue and trace.
Status set_link(LinkSettings& link, std::string_view key, std::string_view value);

// Applies KEY=VALUE,KEY=VALUE over the current settings.
Status set_link(LinkSettings& link, std::string_view settings);

// The settings of one node: "2:rate=10mbit,delay=50ms".
struct NodeSettings {
  std::uint32_t node = 0;
  std::string settings;
};
Result<NodeSettings> parse_node_settings(std::string_view text);

// Checks combinations, once all settings are known: reordering needs a delay, and a trace excludes
// rate, delay and loss. Fails with invalid_argument.
Status check_link(const LinkSettings& link);

// True if the link needs the relay in user space. The kernel shapes only rates without its help.
bool needs_user_space(const LinkSettings& link);

// All settings that differ from the defaults, in the syntax of set_link(); "unlimited" if none
// does.
std::string link_text(const LinkSettings& link);

// Capacity of the queue in bytes, unless the settings state one. It is the larger of two amounts:
// 1000 full frames, but at most what the link carries in 200 ms; and what it carries in 10 ms plus
// the propagation time over two such links and back. It is at least 16 frames and at most 64 MiB.
std::uint64_t queue_bytes_for(const LinkSettings& link, std::uint64_t bits_per_s,
                              std::uint32_t mtu_bytes);

}  // namespace tributary
