// Writes drawn data sets in public file formats, so that training can be tried without a download.
//
//   digits  IDX with MNIST's file names, 28 x 28 grey
//   shapes  the binary version of CIFAR-10 with its file names, 32 x 32 colour
//   text    train.txt and test.txt
//
// make_data() blocks until the files are written and calls the progress function on the caller's
// thread. The same request writes the same bytes on every machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/data/drawn/drawn_part.h"

namespace tributary {

inline constexpr std::uint32_t kDrawnMax = 990'000;            // pictures: CIFAR's 99 batches
inline constexpr std::uint64_t kDrawnTextMax = 1'000'000'000;  // characters

// The data set to write.
struct MakeRequest {
  DrawnKind kind = DrawnKind::digits;
  std::string folder = {};       // created if it does not exist
  std::uint64_t count = 1;       // pictures or characters of the training part
  std::uint64_t test_count = 1;  // the same for the test part
  std::uint64_t seed = 0;
  // Called after each piece with the pictures or characters written so far. If it returns false,
  // make_data() stops with `cancelled` and no file is left behind.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

// The files that make_data() has written.
struct MadeData {
  // Paths of the files, in the order in which they were written.
  std::vector<std::string> files;
  // Sum of the files' sizes.
  std::uint64_t bytes = 0;
  double bits_per_character = 0;  // entropy of the text; 0 for pictures
};

// Writes all files completely, then puts them in place, replacing files of the same names. Fails
// with invalid_argument (count out of range), already_exists (a batch of a larger data set would
// remain and be read as part of this one), cancelled, or io_error.
Result<MadeData> make_data(const MakeRequest& request);

}  // namespace tributary
