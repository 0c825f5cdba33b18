// The free space of the disk that holds a database, and the log that it allows.
#pragma once

#include <cstdint>
#include <string>

namespace tributary {

// The free space of a disk of which nothing is known.
inline constexpr std::uint64_t kSpaceUnknown = UINT64_MAX;

// Bytes that this user can still write to the file system of the file's folder; kSpaceUnknown if
// the system does not say.
std::uint64_t free_space_of(const std::string& path);

// Length of the log at which it is copied into the file. Copying can need as much room as the log
// has, so the log is never longer than half of the free space for long.
std::uint64_t log_bytes_allowed(std::uint64_t log_bytes_max, std::uint64_t free_space);

}  // namespace tributary
