// Updates with arbitrary bits for every codec. The scalar backend and the SIMD backend at every
// instruction set must produce the same bytes, the same decoded values and the same errors.
#include <hwy/targets.h>

#include <cmath>
#include <cstdlib>

#include "core/base/clock.h"
#include "core/codec/local_exchange.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

constexpr std::uint32_t kAgents = 2;
constexpr std::size_t kValuesMax = 5000;

struct Outcome {
  StatusCode code = StatusCode::ok;
  std::vector<Bytes> combined;
  FloatVector sum;
};

Outcome play(const Codec& codec, std::span<const std::span<const float>> updates, Backend backend) {
  const SystemClock clock;
  const auto values = static_cast<std::uint32_t>(updates[0].size());
  LocalExchange exchange(codec, values, kAgents, true, clock);
  Outcome outcome;
  outcome.sum.resize(values);
  // Two rounds, so that residuals and encoders with memory are compared as well.
  for (std::uint64_t round = 0; round < 2 && outcome.code == StatusCode::ok; ++round) {
    outcome.code =
        exchange.play({.round = round}, {.backend = backend}, updates, outcome.sum).status().code();
  }
  if (outcome.code == StatusCode::ok) {
    outcome.combined.assign(exchange.combined().begin(), exchange.combined().end());
  }
  return outcome;
}

bool same(const Outcome& a, const Outcome& b) {
  if (a.code != b.code) return false;
  if (a.code != StatusCode::ok) return true;
  return a.combined == b.combined && a.sum.size() == b.sum.size() &&
         (a.sum.empty() ||
          std::memcmp(a.sum.data(), b.sum.data(), a.sum.size() * sizeof(float)) == 0);
}

std::unique_ptr<Codec> codec_of(std::uint8_t choice) {
  const auto families = codec_families();
  Result<std::unique_ptr<Codec>> codec = make_codec(families[choice % families.size()].name);
  return codec.ok() ? std::move(*codec) : nullptr;
}

// Selects one of the instruction sets that this machine has.
std::int64_t target_of(std::uint8_t choice) {
  std::int64_t targets = hwy::SupportedTargets();
  for (int skip = choice % __builtin_popcountll(static_cast<std::uint64_t>(targets)); skip > 0;
       --skip) {
    targets &= targets - 1;
  }
  return targets & -targets;
}

void run(ByteSpan data) {
  if (data.size() < 2) return;
  const std::unique_ptr<Codec> codec = codec_of(data[0]);
  const std::int64_t target = target_of(data[1]);
  const ByteSpan rest = data.subspan(2);
  const std::size_t values = std::min(rest.size() / sizeof(float) / kAgents, kValuesMax);
  FloatVector first(values);
  FloatVector second(values);
  if (values > 0) {
    std::memcpy(first.data(), rest.data(), values * sizeof(float));
    std::memcpy(second.data(), rest.data() + values * sizeof(float), values * sizeof(float));
  }
  // The sum of two NaNs is one of them, but which one is unspecified.
  for (std::size_t i = 0; i < values; ++i) {
    if (std::isnan(first[i]) && std::isnan(second[i])) second[i] = 0;
  }
  const std::span<const float> updates[kAgents] = {first, second};
  const Outcome scalar = play(*codec, updates, Backend::scalar);
  hwy::SetSupportedTargetsForTest(target);
  const Outcome simd = play(*codec, updates, Backend::simd);
  hwy::SetSupportedTargetsForTest(0);
  if (!same(scalar, simd)) std::abort();
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::run({data, size});
  return 0;
}
