#include "cli/data/data_picture.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "cli/text.h"

namespace tributary {
namespace {

// From dark to bright, for a terminal with a dark background.
constexpr std::string_view kRamp = " .:-=+*#%@";
constexpr std::uint32_t kWidthMax = 64;

// Two rows of pixels become one line of text, because characters are twice as high as wide.
std::string picture(std::span<const float> values, std::uint32_t channels, std::uint32_t height,
                    std::uint32_t width) {
  std::vector<float> grey(std::size_t{width} * ((height + 1) / 2));
  for (std::uint32_t row = 0; row < height; ++row) {
    // The last row of an odd height has no partner and counts fully.
    const bool alone = row + 1 == height && height % 2 == 1;
    const float share = (alone ? 1.0f : 0.5f) / static_cast<float>(channels);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      const float* const from = values.data() + (std::size_t{channel} * height + row) * width;
      for (std::uint32_t x = 0; x < width; ++x) {
        grey[std::size_t{row / 2} * width + x] += from[x] * share;
      }
    }
  }
  // The contrast of each picture is stretched to the whole ramp; a picture of one brightness
  // becomes blank.
  const auto [low, high] = std::ranges::minmax(grey);
  const float scale = high > low ? static_cast<float>(kRamp.size()) / (high - low) : 0;
  std::string text;
  for (std::size_t i = 0; i < grey.size(); ++i) {
    const auto step = static_cast<std::size_t>((grey[i] - low) * scale);
    text += kRamp[std::min(step, kRamp.size() - 1)];
    if ((i + 1) % width != 0) continue;
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace

Result<std::string> example_text(const DataSet& data, std::uint32_t index,
                                 TextVocabulary vocabulary) {
  const ExampleShape& shape = data.shape();
  Batch batch;
  TRIBUTARY_TRY(data.gather({&index, 1}, batch));
  if (shape.task == DataTask::next_token) {
    return printable(text_of(batch.tokens, vocabulary)) + "\n";
  }
  if (shape.dims.size() != 3 || shape.dims[2] > kWidthMax) return std::string();
  return picture(batch.features, shape.dims[0], shape.dims[1], shape.dims[2]);
}

}  // namespace tributary
