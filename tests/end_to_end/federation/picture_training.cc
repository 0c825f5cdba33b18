#include "tests/end_to_end/federation/picture_training.h"

#include <stdlib.h>

#include <fstream>

#include "core/base/random.h"

namespace tributary::end_to_end {
namespace {

// Side of a picture in pixels. Small pictures keep the training short.
constexpr std::uint32_t kSide = 16;

void put_big_endian(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

}  // namespace

void write_pictures(const std::filesystem::path& folder, const std::string& part,
                    std::uint32_t count, std::uint64_t seed,
                    const std::vector<std::uint32_t>& some_labels) {
  const StreamKey key = stream_key({.job_seed = seed, .purpose = DrawPurpose::synthetic_data});
  std::string images;
  std::string labels;
  // The IDX header: magic number, then the dimensions, all big-endian.
  for (const std::uint32_t number : {0x803u, count, kSide, kSide}) put_big_endian(images, number);
  for (const std::uint32_t number : {0x801u, count}) put_big_endian(labels, number);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t label = some_labels[random_bits(key, i) % some_labels.size()];
    labels.push_back(static_cast<char>(label));
    for (std::uint32_t v = 0; v < kSide * kSide; ++v) {
      const std::uint32_t row = v / kSide;
      const std::uint32_t column = v % kSide;
      const std::uint32_t along = label == 0 ? row : label == 1 ? column : row + column;
      const std::uint32_t noise = random_bits(key, count + i * kSide * kSide + v) % 128;
      images.push_back(static_cast<char>((along % 4 < 2 ? 96u : 0u) + noise));
    }
  }
  std::ofstream(folder / (part + "-images-idx3-ubyte"), std::ios::binary) << images;
  std::ofstream(folder / (part + "-labels-idx1-ubyte"), std::ios::binary) << labels;
}

void PictureTraining::SetUp() {
#ifndef TRIBUTARY_TORCH
  GTEST_SKIP() << "built without libtorch";
#endif
  std::string name = (std::filesystem::temp_directory_path() / "tributary-XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  data_ = name;
  write_pictures(data_, "train", 600, 1);
  write_pictures(data_, "t10k", 150, 2);
}
void PictureTraining::TearDown() {
  std::error_code ignored;
  if (!data_.empty()) std::filesystem::remove_all(data_, ignored);
}

double last_accuracy(const Process& agent) {
  const std::vector<std::string> lines = agent.lines_with({"evaluated"});
  return lines.empty() ? -1 : std::stod(field(lines.back(), "accuracy"));
}

}  // namespace tributary::end_to_end
