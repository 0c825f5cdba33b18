// Counters of payload bytes that crossed a link without use, by cause. All are 0 if every byte was
// sent exactly once. Directions are seen from the agents: up is to the coordinator.
//
// A plain value. Parts of the machine count into one of their own, and the coordinator adds them up
// once per round, so that no byte is counted twice.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/round/common/machine/readings.h"

namespace tributary {

struct RepeatedBytes {
  std::uint64_t lost_up = 0;       // sent again within a session, because the first was lost
  std::uint64_t lost_down = 0;     // the same, to agents
  std::uint64_t session_down = 0;  // in flight to an agent when its session was lost
  std::uint64_t known_up = 0;      // had already arrived in an earlier session or attempt
  std::uint64_t late_up = 0;       // for a round or stage that was over
  std::uint64_t no_memory_up = 0;  // refused: the memory for incomplete payloads was full

  void add(const RepeatedBytes& other) {
    for (const auto& each : kFields) this->*each.bytes += other.*each.bytes;
  }

  // One row per counter: its reading and the labels of its metric.
  struct Field {
    ReadingKind reading;
    std::uint64_t RepeatedBytes::*bytes;
    std::string_view direction;
    std::string_view cause;
  };
  static const std::array<Field, 6> kFields;
};

inline constexpr std::array<RepeatedBytes::Field, 6> RepeatedBytes::kFields = {{
    {ReadingKind::repeated_up_lost_bytes, &RepeatedBytes::lost_up, "up", "lost"},
    {ReadingKind::repeated_down_lost_bytes, &RepeatedBytes::lost_down, "down", "lost"},
    {ReadingKind::repeated_down_session_bytes, &RepeatedBytes::session_down, "down", "session"},
    {ReadingKind::repeated_up_known_bytes, &RepeatedBytes::known_up, "up", "known"},
    {ReadingKind::repeated_up_late_bytes, &RepeatedBytes::late_up, "up", "late"},
    {ReadingKind::repeated_up_no_room_bytes, &RepeatedBytes::no_memory_up, "up", "no_room"},
}};

}  // namespace tributary
