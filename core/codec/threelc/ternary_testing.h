// Payloads of the codec threelc in its tests: encoded, opened, decoded and made by hand.
//
// A failure of encoding or decoding is a failure of the test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "core/codec/codec_testing.h"
#include "core/codec/threelc/ternary.h"

namespace tributary::threelc {

using codec_testing::codec_of;
using codec_testing::Pattern;

inline Bytes encode(const Codec& codec, std::span<const float> values,
                    const RoundContext& round = {}, const Execution& execution = {}) {
  Bytes payload;
  const auto encoder = codec.make_encoder(static_cast<std::uint32_t>(values.size()));
  const Status status = encoder->encode({.round = round, .execution = execution}, values, payload);
  EXPECT_TRUE(status.ok()) << status.text();
  return payload;
}

inline ByteSpan body_of(const Bytes& payload) {
  const Result<OpenPayload> open = open_payload({}, payload);
  EXPECT_TRUE(open.ok());
  return open.ok() ? open->body : ByteSpan();
}

inline FloatVector decode(const Codec& codec, const Bytes& payload, std::size_t values,
                          const RoundContext& round = {}) {
  FloatVector out(values);
  const Status status = codec.decode({.round = round}, payload, out);
  EXPECT_TRUE(status.ok()) << status.text();
  return out;
}

// A body with a valid header.
inline Bytes payload_with(const Codec& codec, std::uint32_t values, ByteSpan body) {
  Bytes payload;
  const MutableByteSpan out =
      start_payload({.spec = codec.spec(), .values = values}, body.size(), payload);
  std::ranges::copy(body, out.begin());
  seal_payload({}, payload);
  return payload;
}

// Numbers of any type one after the other, little-endian.
template <typename... Numbers>
Bytes bytes_made_of(Numbers... numbers) {
  Bytes out;
  ByteWriter writer(out);
  (ignore_error(writer.write(numbers)), ...);
  return out;
}

template <typename Number>
std::uint8_t byte(Number number) {
  return static_cast<std::uint8_t>(number);
}

// Layers of 100, 5, 1000 and 20 values; the second and fourth are below the threshold.
inline constexpr LayerRun kLayers[] = {{.offset = 0, .count = 100, .rows = 10},
                                       {.offset = 100, .count = 5},
                                       {.offset = 105, .count = 1000, .rows = 20},
                                       {.offset = 1105, .count = 20}};
inline constexpr std::size_t kLayeredValues = 1125;

inline FloatVector layered_update() {
  FloatVector x = codec_testing::update(Pattern::lognormal, kLayeredValues, 0);
  for (std::size_t i = 105; i < 1105; ++i) x[i] *= 1000.0f;  // a common M would be detected
  return x;
}

}  // namespace tributary::threelc
