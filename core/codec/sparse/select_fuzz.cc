// A bucket of arbitrary bits and an arbitrary k. The scalar backend and the SIMD backend at every
// instruction set must select what sorting selects, or give the same error.
#include <hwy/targets.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "core/codec/sparse/elements.h"
#include "core/codec/sparse/select.h"

namespace tributary::sparse {
namespace {

using Places = std::vector<std::uint32_t>;

Places sorted(std::span<const float> x, std::size_t k) {
  Places places(x.size());
  std::iota(places.begin(), places.end(), 0u);
  std::ranges::stable_sort(places, std::greater(), [&](auto i) { return magnitude_bits(x[i]); });
  places.resize(k);
  std::ranges::sort(places);
  return places;
}

struct Outcome {
  StatusCode code;
  Places places;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome outcome_of(const Selector::Indices& got) {
  if (!got.ok()) return {got.status().code(), {}};
  return {StatusCode::ok, {got->begin(), got->end()}};
}

std::vector<Outcome> select(std::span<const float> x, std::uint32_t k, std::uint32_t threshold,
                            Backend backend) {
  const Execution execution = {.backend = backend};
  static Selector selector;  // reused, as in an encoder
  return {outcome_of(selector.top(execution, x, k)),
          outcome_of(selector.bisected(execution, x, k, 25)),
          outcome_of(selector.at_least(execution, x, threshold)),
          outcome_of(selector.at_least_up_to(execution, x, threshold, k))};
}

void run(ByteSpan data) {
  ByteReader reader(data);
  const Result<std::uint16_t> count = reader.read<std::uint16_t>("k");
  const Result<std::uint32_t> threshold = reader.read<std::uint32_t>("threshold");
  if (!count.ok() || !threshold.ok() || reader.remaining() < sizeof(float)) return;
  FloatVector x(reader.remaining() / sizeof(float));
  std::memcpy(x.data(), data.data() + reader.position(), x.size() * sizeof(float));
  const auto k = 1 + *count % static_cast<std::uint32_t>(x.size());

  const std::vector<Outcome> expected = select(x, k, *threshold, Backend::scalar);
  for (std::int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    if (select(x, k, *threshold, Backend::simd) != expected) std::abort();
    hwy::SetSupportedTargetsForTest(0);
  }
  if (expected[0].code != StatusCode::ok) return;
  if (expected[0].places != sorted(x, k)) std::abort();
  // Bisection may select other values than sorting, but exactly k.
  if (expected[1].places.size() != k) std::abort();
}

}  // namespace
}  // namespace tributary::sparse

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::sparse::run({data, size});
  return 0;
}
