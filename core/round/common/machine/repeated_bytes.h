// Payload bytes that crossed a link for nothing, by cause. All of them are 0 where every byte is
// sent once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/round/common/machine/readings.h"

namespace tributary {

struct RepeatedBytes {
  std::uint64_t lost_up = 0;       // sent again within a session, because the first was lost
  std::uint64_t lost_down = 0;     //
  std::uint64_t session_down = 0;  // under way to an agent when its session was lost
  std::uint64_t known_up = 0;      // arrived in an earlier session or attempt
  std::uint64_t late_up = 0;       // for a round or stage that is over
  std::uint64_t no_room_up = 0;    // refused: the memory for incomplete payloads was taken

  void add(const RepeatedBytes& other) {
    for (const auto& each : kFields) this->*each.bytes += other.*each.bytes;
  }

  // The reading of each, and the labels of its metric.
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
    {ReadingKind::repeated_up_no_room_bytes, &RepeatedBytes::no_room_up, "up", "no_room"},
}};

}  // namespace tributary
