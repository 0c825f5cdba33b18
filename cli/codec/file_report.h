// The answer of `codec encode` and `codec decode`: sizes, ratio and speed of one conversion. A pure
// function: the caller has measured the time and counted the bytes. Text and JSON have the same
// figures.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/command.h"

namespace tributary {

// One conversion. `in` and `out` are paths, as the user typed them.
struct FileReport {
  std::string in;
  std::string out;
  std::string codec;
  std::uint32_t bucket_values = 0;
  std::uint64_t job_seed = 0;
  std::uint64_t float_bytes = 0;
  std::uint64_t encoded_bytes = 0;
  bool encoding = true;  // false: decoding
  std::chrono::nanoseconds time{};
};

// Ratios and speeds are derived; a duration of 0 gives a very high speed, not an error.
Answer file_answer(const FileReport& report);

}  // namespace tributary
