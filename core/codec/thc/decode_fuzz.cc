// Untrusted norms, levels and sums with every kind of table. Envelopes are valid, and the stamp of
// the table is valid if the input selects it, so that the checks behind them are reached.
#include <cmath>

#include "core/codec/payload.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/spec_fuzzing_testing.h"

namespace tributary::thc {
namespace {

// A payload with a valid envelope and, for stage 1, a valid stamp: the encoding of zeros with its
// fields overwritten by the input.
Result<Bytes> overwritten(const FuzzCase& one, const StageCall& call, ByteReader& rest,
                          std::size_t count, std::uint8_t layout, std::uint32_t contributors,
                          bool keep_stamp) {
  Bytes honest;
  const FloatVector zeros(one.values, 0.0f);
  TRIBUTARY_TRY(one.codec->make_encoder(one.values)->encode(call, zeros, honest));
  TRIBUTARY_ASSIGN(const OpenPayload open, open_payload({}, honest));
  TRIBUTARY_ASSIGN(const ByteSpan fields, rest.take(count, "fields"));
  const std::size_t kept = keep_stamp ? std::min(kStampBytes, open.body.size()) : 0;
  Bytes payload;
  const MutableByteSpan body = start_payload({.spec = one.codec->spec(),
                                              .stage = static_cast<std::uint8_t>(call.stage()),
                                              .layout = layout,
                                              .contributors = contributors,
                                              .values = one.values},
                                             kept + fields.size(), payload);
  std::ranges::copy(open.body.first(kept), body.begin());
  std::ranges::copy(fields, body.begin() + static_cast<std::ptrdiff_t>(kept));
  seal_payload({}, payload);
  return payload;
}

void aggregate(const FuzzCase& one, const StageCall& call, const Bytes& payload) {
  const auto aggregator = one.codec->make_aggregator(call.stage(), one.values);
  if (!aggregator->begin(call, {}).ok()) return;
  // A second time, so that sums reach their limits.
  for (int twice = 0; twice < 2; ++twice) ignore_error(aggregator->add(call, payload));
  Bytes combined;
  if (!aggregator->finish(call, combined).ok()) return;
  // An aggregator's output must be valid input for another aggregator, whatever was added.
  const auto next = one.codec->make_aggregator(call.stage(), one.values);
  require(next->begin(call, {}).ok() && next->add(call, combined).ok());
}

void decode(const FuzzCase& one, StageCall call, const Bytes& payload) {
  FloatVector scalar(one.values);
  FloatVector simd(one.values);
  call.execution.backend = Backend::scalar;
  const Status expected = one.codec->decode(call, payload, scalar);
  call.execution.backend = Backend::simd;
  hwy::SetSupportedTargetsForTest(one.target);
  const Status got = one.codec->decode(call, payload, simd);
  hwy::SetSupportedTargetsForTest(0);
  require(expected.code() == got.code());
  if (!got.ok()) return;
  for (std::size_t i = 0; i < simd.size(); ++i) {
    require(std::isfinite(simd[i]));
    require(std::bit_cast<std::uint32_t>(simd[i]) == std::bit_cast<std::uint32_t>(scalar[i]));
  }
}

Status run(ByteSpan data) {
  TRIBUTARY_ASSIGN(FuzzCase one, read_case(data));
  TRIBUTARY_ASSIGN(const auto layout, one.rest.read<std::uint8_t>("layout"));
  TRIBUTARY_ASSIGN(const auto contributors, one.rest.read<std::uint8_t>("contributors"));
  TRIBUTARY_ASSIGN(const auto norm_bytes, one.rest.read<std::uint16_t>("norm bytes"));
  const RoundContext round = {.job_seed = 1, .round = 2, .agents = one.agents};
  const std::size_t norms = std::min<std::size_t>(norm_bytes, one.rest.remaining());
  const StageCall first = {.round = round};
  TRIBUTARY_ASSIGN(const Bytes stage0, overwritten(one, first, one.rest, norms, 0, 1, false));
  aggregate(one, first, stage0);
  const std::vector<ByteSpan> combined = {stage0};
  const StageCall second = {.round = round, .combined = combined};
  TRIBUTARY_ASSIGN(const Bytes stage1,
                   overwritten(one, second, one.rest, one.rest.remaining(), layout, contributors,
                               (norm_bytes & 0x8000u) == 0));
  aggregate(one, second, stage1);
  decode(one, second, stage1);
  return {};
}

}  // namespace
}  // namespace tributary::thc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::ignore_error(tributary::thc::run({data, size}));
  return 0;
}
