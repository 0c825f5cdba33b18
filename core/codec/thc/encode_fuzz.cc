// Updates with arbitrary bits and arbitrary norms with every kind of table. The scalar and the SIMD
// encoder at every instruction set must produce the same bytes or the same error.
#include <cmath>

#include "core/codec/payload.h"
#include "core/codec/thc/spec_fuzzing_testing.h"

namespace tributary::thc {
namespace {

struct Encoded {
  Status status;
  Bytes payload;
};

Encoded encode(const FuzzCase& one, StageCall call, const FloatVector& values, Backend backend) {
  call.execution.backend = backend;
  if (backend == Backend::simd) hwy::SetSupportedTargetsForTest(one.target);
  Encoded out;
  out.status = one.codec->make_encoder(one.values)->encode(call, values, out.payload);
  hwy::SetSupportedTargetsForTest(0);
  return out;
}

// Returns the payload, or nothing if both encoders refused.
Bytes encode_by_both(const FuzzCase& one, const StageCall& call, const FloatVector& values) {
  Encoded scalar = encode(one, call, values, Backend::scalar);
  const Encoded simd = encode(one, call, values, Backend::simd);
  require(scalar.status.code() == simd.status.code());
  if (!scalar.status.ok()) return {};
  require(scalar.payload == simd.payload);
  return std::move(scalar.payload);
}

// Norms from the input, in a valid envelope.
Bytes hostile_norms(const FuzzCase& one, const Bytes& honest, ByteReader& rest) {
  Bytes out = honest;
  const Result<OpenPayload> open = open_payload({}, honest);
  require(open.ok());
  const std::size_t count = std::min(open->body.size(), rest.remaining());
  const Result<ByteSpan> norms = rest.take(count, "norms");
  if (norms.ok())
    std::ranges::copy(*norms, out.end() - static_cast<std::ptrdiff_t>(open->body.size()));
  seal_payload({}, out);
  require(one.values > 0 || out == honest);
  return out;
}

Status run(ByteSpan data) {
  TRIBUTARY_ASSIGN(FuzzCase one, read_case(data));
  TRIBUTARY_ASSIGN(const auto agent, one.rest.read<std::uint8_t>("agent"));
  one.values = std::min<std::uint32_t>(one.values, 4200);
  // Values that the input does not provide are 0.5.
  FloatVector values(one.values, 0.5f);
  const std::size_t given = std::min<std::size_t>(one.values, one.rest.remaining() / sizeof(float));
  TRIBUTARY_ASSIGN(const ByteSpan bits, one.rest.take(given * sizeof(float), "values"));
  if (given > 0) std::memcpy(values.data(), bits.data(), bits.size());

  const RoundContext round = {
      .job_seed = 1, .round = 2, .agent = agent % one.agents, .agents = one.agents};
  const Bytes honest = encode_by_both(one, {.round = round}, values);
  if (honest.empty()) return {};
  for (const Bytes& norms : {honest, hostile_norms(one, honest, one.rest)}) {
    const std::vector<ByteSpan> combined = {norms};
    const StageCall call = {.round = round, .combined = combined};
    const Bytes levels = encode_by_both(one, call, values);
    if (levels.empty()) continue;
    FloatVector decoded(one.values);
    if (!one.codec->decode(call, levels, decoded).ok()) continue;
    for (const float value : decoded) require(std::isfinite(value));
  }
  return {};
}

}  // namespace
}  // namespace tributary::thc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::ignore_error(tributary::thc::run({data, size}));
  return 0;
}
