// Untrusted bodies for the decoder of every codec of this family, with layers. Decoded values must
// be finite, equal for scalar and SIMD, and equal when they are added to zeros. A refused body must
// leave the sum unchanged.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

constexpr std::uint32_t kLayerValuesMax = 1024;
constexpr std::size_t kLayersMax = 4;

void require(bool condition) {
  if (!condition) std::abort();
}

const std::vector<std::unique_ptr<Codec>>& codecs() {
  static const auto kCodecs = [] {
    std::vector<std::unique_ptr<Codec>> all;
    for (const char* spec : {"threelc:bypass=64", "threelc:zero_run=off,bypass=64", "stoch3",
                             "terngrad", "threelc:bypass=64,block=100"}) {
      Result<std::unique_ptr<Codec>> codec = make_codec(spec);
      require(codec.ok());
      all.push_back(std::move(*codec));
    }
    return all;
  }();
  return kCodecs;
}

bool same(const FloatVector& a, const FloatVector& b) {
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check(const Codec& codec, StageCall call, std::uint32_t values, ByteSpan body) {
  Bytes payload;
  const MutableByteSpan out =
      start_payload({.spec = codec.spec(), .values = values}, body.size(), payload);
  std::ranges::copy(body, out.begin());
  seal_payload({}, payload);

  FloatVector scalar(values);
  FloatVector simd(values);
  FloatVector sum(values, 0.0f);
  call.execution.backend = Backend::scalar;
  const Status expected = codec.decode(call, payload, scalar);
  call.execution.backend = Backend::simd;
  require(codec.decode(call, payload, simd).code() == expected.code());
  require(codec.decode_add(call, payload, {}, sum).code() == expected.code());
  if (!expected.ok()) {
    for (const float value : sum) require(value == 0.0f);
    return;
  }
  require(same(scalar, simd));
  require(sum == simd);  // except for the sign of a zero
  for (const float value : simd) require(std::isfinite(value));
}

Status run(ByteSpan data) {
  ByteReader reader(data);
  TRIBUTARY_ASSIGN(const auto choice, reader.read<std::uint8_t>("codec"));
  // The upper bits of the choice select the number of layers, the lower bits the codec.
  std::vector<LayerRun> layers(choice / 16 % (kLayersMax + 1));
  std::uint32_t values = 0;
  for (LayerRun& layer : layers) {
    TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint16_t>("layer"));
    layer = {.offset = values, .count = count % kLayerValuesMax};
    values += layer.count;
  }
  if (layers.empty()) {
    TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint16_t>("values"));
    values = count;
  }
  TRIBUTARY_ASSIGN(const ByteSpan body, reader.take(reader.remaining(), "body"));
  check(*codecs()[choice % 16 % codecs().size()], {.round = {.layers = layers}}, values, body);
  return {};
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::ignore_error(tributary::run({data, size}));
  return 0;
}
