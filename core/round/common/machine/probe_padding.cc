#include "core/round/common/machine/probe_padding.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/base/random.h"

namespace tributary {
namespace {

std::shared_ptr<const Bytes> make_noise() {
  const StreamKey key = stream_key({.purpose = DrawPurpose::synthetic_data});
  auto noise = std::make_shared<Bytes>(kProbePaddingMax);
  for (std::uint32_t at = 0; at < kProbePaddingMax; at += 4) {
    const std::uint32_t bits = random_bits(key, at / 4);
    std::memcpy(noise->data() + at, &bits, sizeof(bits));
  }
  return noise;
}

}  // namespace

PayloadSlice probe_padding(std::uint32_t bytes) {
  static const std::shared_ptr<const Bytes> noise = make_noise();
  return {.owner = noise, .bytes = ByteSpan(*noise).first(std::min(bytes, kProbePaddingMax))};
}

}  // namespace tributary
