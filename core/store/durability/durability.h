// When stored records become durable, that is, survive a power failure.
//
// A killed process loses nothing with any value: the operating system has what was written.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace tributary {

enum class Durability : std::uint8_t {
  round,       // each record, before anything depends on it
  seconds_30,  // at most 30 s after it was stored
  stop,        // when the journal is closed, and when its log is copied into the file
};

// The time of Durability::seconds_30.
inline constexpr std::chrono::seconds kDurableAfter{30};

// The values of the setting journal.durability: "round", "30s" and "stop".
std::string_view name(Durability durability);
// Fails with invalid_argument for any other name.
Result<Durability> durability_named(std::string_view name);

}  // namespace tributary
