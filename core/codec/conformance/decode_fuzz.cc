// Untrusted payloads for every codec's decoder and aggregator. The input selects the codec. It then
// provides either whole payloads, or only bodies, for which a valid envelope is made. Both the
// envelope's checks and the checks behind them are therefore reached. The scalar and the SIMD
// decoder must agree on every payload.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

constexpr std::uint32_t kValuesMax = 9000;  // more than two blocks of the largest default size

const std::vector<std::unique_ptr<Codec>>& all_codecs() {
  static const auto kCodecs = [] {
    std::vector<std::unique_ptr<Codec>> codecs;
    for (const CodecFamily& family : codec_families()) {
      Result<std::unique_ptr<Codec>> codec = make_codec(family.name);
      if (codec.ok()) codecs.push_back(std::move(*codec));
    }
    return codecs;
  }();
  return kCodecs;
}

// The fields that the first bytes of the input select, and the remaining bytes.
struct Input {
  const Codec* codec = nullptr;
  bool whole_payloads = false;
  std::uint32_t agents = 1;
  std::uint32_t values = 0;
  ByteReader rest;
};

Result<Input> read_input(ByteSpan data) {
  ByteReader reader(data);
  TRIBUTARY_ASSIGN(const auto choice, reader.read<std::uint8_t>("codec"));
  TRIBUTARY_ASSIGN(const auto mode, reader.read<std::uint8_t>("mode"));
  TRIBUTARY_ASSIGN(const auto values, reader.read<std::uint16_t>("values"));
  return Input{.codec = all_codecs()[choice % all_codecs().size()].get(),
               .whole_payloads = (mode & 1u) != 0,
               .agents = 1u + (mode >> 1),
               .values = values % kValuesMax,
               .rest = reader};
}

// Returns the next payload. The remaining input is divided evenly among the remaining stages.
Result<Bytes> next_payload(Input& input, std::size_t stage) {
  const std::size_t stages_left = input.codec->stages().size() - stage;
  const std::size_t share = input.rest.remaining() / stages_left;
  Bytes payload;
  if (input.whole_payloads) {
    TRIBUTARY_ASSIGN(const ByteSpan bytes, input.rest.take(share, "payload"));
    payload.assign(bytes.begin(), bytes.end());
    // A correct checksum, or almost no input would pass the envelope.
    if (payload.size() >= kPayloadFixedHeaderBytes) seal_payload({}, payload);
    return payload;
  }
  if (share < 2) return Bytes();
  TRIBUTARY_ASSIGN(const auto layout, input.rest.read<std::uint8_t>("layout"));
  TRIBUTARY_ASSIGN(const auto contributors, input.rest.read<std::uint8_t>("contributors"));
  TRIBUTARY_ASSIGN(const ByteSpan body, input.rest.take(share - 2, "body"));
  const MutableByteSpan out = start_payload({.spec = input.codec->spec(),
                                             .stage = static_cast<std::uint8_t>(stage),
                                             .layout = layout,
                                             .contributors = contributors,
                                             .values = input.values},
                                            body.size(), payload);
  std::ranges::copy(body, out.begin());
  seal_payload({}, payload);
  return payload;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void aggregate(const Input& input, const StageCall& call, const Bytes& payload) {
  const auto aggregator = input.codec->make_aggregator(call.stage(), input.values);
  if (!aggregator->begin(call, {}).ok()) return;
  // A second time, so that sums reach their limits.
  for (int twice = 0; twice < 2; ++twice) ignore_error(aggregator->add(call, payload));
  Bytes combined;
  ignore_error(aggregator->finish(call, combined));
}

void decode(const Input& input, StageCall call, const Bytes& payload) {
  FloatVector scalar(input.values);
  FloatVector simd(input.values);
  call.execution.backend = Backend::scalar;
  const Status expected = input.codec->decode(call, payload, scalar);
  call.execution.backend = Backend::simd;
  const Status got = input.codec->decode(call, payload, simd);
  require(expected.code() == got.code());
  if (!got.ok()) return;
  require(scalar.empty() ||
          std::memcmp(scalar.data(), simd.data(), scalar.size() * sizeof(float)) == 0);
  if (input.codec->carries_not_finite()) return;
  for (const float value : simd) require(std::isfinite(value));
}

Status run(ByteSpan data) {
  TRIBUTARY_ASSIGN(Input input, read_input(data));
  const std::size_t stages = input.codec->stages().size();
  std::vector<Bytes> payloads(stages);
  std::vector<ByteSpan> combined;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    TRIBUTARY_ASSIGN(payloads[stage], next_payload(input, stage));
    const StageCall call = {.round = {.job_seed = 1, .round = 2, .agents = input.agents},
                            .execution = {},
                            .combined = combined};
    aggregate(input, call, payloads[stage]);
    if (stage + 1 == stages) decode(input, call, payloads[stage]);
    // The next stage gets the hostile payload as its combined payload.
    combined.emplace_back(payloads[stage]);
  }
  return {};
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::ignore_error(tributary::run({data, size}));
  return 0;
}
