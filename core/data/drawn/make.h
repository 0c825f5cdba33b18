// Drawn data sets as files of the public formats, so that everything can be tried without a
// download.
//
//   digits  IDX under MNIST's names, 28 x 28 grey
//   shapes  CIFAR-10's binary version under its names, 32 x 32 colour
//   text    train.txt and test.txt
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

struct MakeRequest {
  DrawnKind kind = DrawnKind::digits;
  std::string folder = {};       // made if it is not there
  std::uint64_t count = 1;       // pictures or characters
  std::uint64_t test_count = 1;  // likewise
  std::uint64_t seed = 0;
  // Returns false to stop; nothing is left behind then.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress = {};
};

struct MadeData {
  std::vector<std::string> files;
  std::uint64_t bytes = 0;
  double bits_per_character = 0;  // of text: its entropy
};

// Files of the same names are replaced, each when it is complete.
Result<MadeData> make_data(const MakeRequest& request);

}  // namespace tributary
