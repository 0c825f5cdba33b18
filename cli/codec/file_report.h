// The answer of `codec encode` and `codec decode`: sizes, ratio and speed of one conversion. Text
// and JSON have these figures. Only text has the paths; only JSON has bucket_values and the seed.
//
// A pure function that cannot fail and prints nothing. The caller has converted and written the
// file, measured the time and counted the bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/command.h"

namespace tributary {

// One conversion. `in` and `out` are paths, as the user typed them. `codec` is the canonical spec.
// When decoding, codec, bucket_values and job_seed are those in the header of the encoded file.
struct FileReport {
  std::string in;
  std::string out;
  std::string codec;
  std::uint32_t bucket_values = 0;
  std::uint64_t job_seed = 0;
  std::uint64_t float_bytes = 0;    // size of the float32 file
  std::uint64_t encoded_bytes = 0;  // size of the encoded file with its header; not 0
  bool encoding = true;             // false: decoding
  std::chrono::nanoseconds time{};  // with reading, writing and syncing
};

// The ratio is float_bytes / encoded_bytes. The speed is float_bytes per second for both
// directions; a duration of 0 gives a very high speed, not an error.
Answer file_answer(const FileReport& report);

}  // namespace tributary
