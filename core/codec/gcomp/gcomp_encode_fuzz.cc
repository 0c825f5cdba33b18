// Encodes the input's floats with an optimizer's state from the same input. The scalar and the SIMD
// version must produce the same payload, in this round and with the codebook of the next round. The
// payload must decode to the input, except for the bits that truncation may remove.
//
//   byte 0  which spec    1  optimizer, 7: none    2  step    3  unused    4  floats
#include <bit>
#include <cstring>

#include "core/codec/optimizer_view.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"

using namespace tributary;

namespace {

struct Subject {
  std::unique_ptr<Codec> codec;
  std::uint32_t kept;  // mask of the bits that remain after the maximum truncation
};

const Subject& subject(std::size_t index) {
  static const auto kSubjects = [] {
    std::vector<Subject> all;
    const auto add = [&](const char* spec, std::uint32_t kept) {
      all.push_back({std::move(*make_codec(spec)), kept});
    };
    add("gcomp:rebuild=1", 0xfffc0000u);
    add("gcomp:truncation=none,rebuild=1", 0xffffffffu);
    add("gcomp:truncation=6,max_length=3", 0xffffffc0u);
    add("gcomp:truncation=18", 0xfffc0000u);
    add("gcomp:truncation=metric,rebuild=1", 0xfffc0000u);
    return all;
  }();
  return kSubjects[index % kSubjects.size()];
}

OptimizerView view_of(std::uint8_t kind, std::uint8_t step, std::span<const float> state) {
  return {.kind = static_cast<OptimizerKind>(kind % 7),
          .learning_rate = 0.01f,
          .learning_rate_decay = 0.001f,
          .weight_decay = 0.01f,
          .momentum = 0.9f,
          .dampening = 0.1f,
          .alpha = 0.99f,
          .beta1 = 0.9f,
          .beta2 = 0.999f,
          .epsilon = 1e-8f,
          .step = std::uint64_t{step} + 1,
          .parameters = state,
          .first_moment = step % 2 == 0 ? state : std::span<const float>(),
          .second_moment = step % 3 == 0 ? state : std::span<const float>()};
}

void check_decoded(const Subject& subject, std::span<const float> values, const Bytes& payload) {
  FloatVector decoded(values.size());
  if (!subject.codec->decode({.round = {}}, payload, decoded).ok()) __builtin_trap();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto sent = std::bit_cast<std::uint32_t>(values[i]);
    const auto got = std::bit_cast<std::uint32_t>(decoded[i]);
    const bool pruned = (sent & 0x7f800000u) == 0 && subject.codec->lossy();
    if (pruned ? got != 0 : ((sent ^ got) & subject.kept) != 0) __builtin_trap();
    const bool finite = (sent & 0x7f800000u) != 0x7f800000u;
    if (!finite && sent != got) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  if (size < kHead) return 0;
  FloatVector floats((size - kHead) / sizeof(float));
  if (!floats.empty()) std::memcpy(floats.data(), data + kHead, floats.size() * sizeof(float));
  // Repeats the floats, so that a short input reaches the codebook and several chunks.
  FloatVector values;
  const std::size_t copies = data[0] < 128 ? 1 : 200;
  for (std::size_t i = 0; i < copies; ++i) {
    values.insert(values.end(), floats.begin(), floats.end());
  }
  if (values.size() > 140'000) values.resize(140'000);
  // The optimizer's state has the same values in reverse order.
  const FloatVector state(values.rbegin(), values.rend());
  const OptimizerView view = view_of(data[1], data[2], state);

  const Subject& under_test = subject(data[0]);
  const auto count = static_cast<std::uint32_t>(values.size());
  const auto scalar = under_test.codec->make_encoder(count);
  const auto simd = under_test.codec->make_encoder(count);
  for (std::uint64_t round = 0; round < 3; ++round) {
    StageCall call = {.round = {.round = round},
                      .execution = {.backend = Backend::scalar},
                      .optimizer = data[1] % 8 == 7 ? nullptr : &view};
    Bytes expected;
    Bytes payload;
    if (!scalar->encode(call, values, expected).ok()) __builtin_trap();
    call.execution.backend = Backend::simd;
    if (!simd->encode(call, values, payload).ok()) __builtin_trap();
    if (payload != expected) __builtin_trap();
    check_decoded(under_test, values, payload);
  }
  return 0;
}
