// Compares scalar and SIMD at every instruction set: digits of arbitrary floats in any range, zero
// runs of arbitrary bytes, and decoding. The first bytes of the input select the range; the rest
// are the values.
#include <hwy/targets.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/threelc/elements.h"
#include "core/codec/threelc/kernels.h"

namespace tributary::threelc {
namespace {

constexpr std::size_t kBytesMax = 4096;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Input {
  FloatVector x;
  Bytes bytes;  // the same input as bytes
  PackedRange quartic;
  PackedRange two_bit;
  float unit = 0;
};

// Scales two bytes of the input to a range of packed bytes.
template <class P>
PackedRange range_of(std::size_t count, std::uint8_t begin, std::uint8_t end) {
  const std::size_t bytes = P::bytes(count);
  const std::size_t first = bytes * begin / 255;
  return {.count = count, .begin = first, .end = first + (bytes - first) * end / 255};
}

bool read_input(ByteSpan data, Input& input) {
  if (data.size() < 6 || data.size() > kBytesMax) return false;
  std::memcpy(&input.unit, data.data(), sizeof(float));
  if (magnitude_bits(input.unit) >= kInfinityBits) return false;
  input.unit = std::abs(input.unit);
  const ByteSpan rest = data.subspan(6);
  input.bytes.assign(rest.begin(), rest.end());
  input.x.resize(rest.size() / sizeof(float));
  if (!input.x.empty()) std::memcpy(input.x.data(), rest.data(), input.x.size() * sizeof(float));
  input.quartic = range_of<Quartic>(input.x.size(), data[4], data[5]);
  input.two_bit = range_of<TwoBit>(input.x.size(), data[4], data[5]);
  return true;
}

// The results of all kernels for one input, as bytes.
struct Outcome {
  std::uint32_t largest = 0;
  std::size_t decoded_bytes = 0;
  bool two_bit_valid = false;
  std::vector<Bytes> made;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Bytes copy_of(const FloatVector& values) {
  const ByteSpan bytes = bytes_of(std::span<const float>(values));
  return {bytes.begin(), bytes.end()};
}

void check_round_trip(const PackingKernels& loops, const Input& input, const PackedRange& range,
                      Outcome& outcome) {
  Bytes packed(range.end - range.begin);
  loops.pack_random(input.x.data(), range, input.unit, {.a = 1, .b = 2}, 3, packed.data());
  FloatVector values(input.x.size(), 1.0f);
  loops.unpack(packed.data(), range, input.unit, values.data());
  outcome.made.push_back(copy_of(values));
  values.assign(input.x.size(), -0.0f);
  loops.unpack_add(packed.data(), range, input.unit, values.data());
  outcome.made.push_back(copy_of(values));
  outcome.made.push_back(std::move(packed));
}

Outcome run(const Kernels& loops, const Input& input) {
  Outcome outcome;
  const Bytes& bytes = input.bytes;
  outcome.largest = loops.largest_magnitude(input.x.data(), input.x.size());
  outcome.two_bit_valid = loops.two_bit_valid(bytes.data(), bytes.size());
  // Packing requires finite values.
  if (outcome.largest < kInfinityBits) {
    Bytes packed(input.quartic.end - input.quartic.begin);
    loops.pack_nearest(input.x.data(), input.quartic, nearest_level(input.unit), packed.data());
    outcome.made.push_back(std::move(packed));
    check_round_trip(loops.quartic, input, input.quartic, outcome);
    check_round_trip(loops.two_bit, input, input.two_bit, outcome);
  }

  Bytes coded(bytes.size());
  coded.resize(loops.zero_run_encode(bytes.data(), bytes.size(), coded.data()));
  outcome.made.push_back(std::move(coded));
  outcome.decoded_bytes = loops.zero_run_decoded_bytes(bytes.data(), bytes.size());
  Bytes decoded(outcome.decoded_bytes + kDecodeSlackBytes);
  loops.zero_run_decode(bytes.data(), bytes.size(), decoded.data());
  decoded.resize(outcome.decoded_bytes);
  outcome.made.push_back(std::move(decoded));
  return outcome;
}

// Quartic bytes are below 243. Encoding and decoding must restore them.
void check_zero_runs(const Input& input) {
  const Kernels& loops = scalar_kernels();
  Bytes plain = input.bytes;
  for (std::uint8_t& byte : plain) byte = static_cast<std::uint8_t>(byte % 243);
  Bytes coded(plain.size());
  coded.resize(loops.zero_run_encode(plain.data(), plain.size(), coded.data()));
  require(loops.zero_run_decoded_bytes(coded.data(), coded.size()) == plain.size());
  Bytes decoded(plain.size() + kDecodeSlackBytes);
  loops.zero_run_decode(coded.data(), coded.size(), decoded.data());
  decoded.resize(plain.size());
  require(decoded == plain);
}

void check(const Input& input) {
  check_zero_runs(input);
  const Outcome expected = run(scalar_kernels(), input);
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    require(run(simd_kernels(), input) == expected);
    hwy::SetSupportedTargetsForTest(0);
  }
}

}  // namespace
}  // namespace tributary::threelc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::threelc::Input input;
  if (tributary::threelc::read_input({data, size}, input)) tributary::threelc::check(input);
  return 0;
}
