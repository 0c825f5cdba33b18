// Decodes a payload whose body is the input, with a correct checksum. The scalar and the SIMD
// version must return the same result.
//
//   byte 0  which spec    1  layout    2  u32 values, up to 140,000    6  body
#include <cstring>

#include "core/codec/payload.h"
#include "core/codec/registry.h"

using namespace tributary;

namespace {

const Codec& codec(std::size_t index) {
  static const auto kCodecs = [] {
    std::vector<std::unique_ptr<Codec>> all;
    for (const char* spec : {"gcomp", "gcomp:truncation=none", "gcomp:max_length=4"}) {
      all.push_back(std::move(*make_codec(spec)));
    }
    return all;
  }();
  return *kCodecs[index % kCodecs.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 6;
  if (size < kHead) return 0;
  std::uint32_t values;
  std::memcpy(&values, data + 2, sizeof(values));
  values %= 140'001;
  const Codec& under_test = codec(data[0]);
  Bytes payload;
  const MutableByteSpan body = start_payload(
      {.spec = under_test.spec(), .layout = data[1], .values = values}, size - kHead, payload);
  if (size > kHead) std::memcpy(body.data(), data + kHead, size - kHead);
  seal_payload({}, payload);

  FloatVector scalar(values);
  FloatVector simd(values);
  const Status scalar_status =
      under_test.decode({.round = {}, .execution = {.backend = Backend::scalar}}, payload, scalar);
  const Status simd_status =
      under_test.decode({.round = {}, .execution = {.backend = Backend::simd}}, payload, simd);
  if (scalar_status.text() != simd_status.text()) __builtin_trap();
  if (!simd_status.ok() || values == 0) return 0;
  if (std::memcmp(scalar.data(), simd.data(), values * sizeof(float)) != 0) __builtin_trap();
  return 0;
}
