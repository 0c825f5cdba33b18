// Shows that a comparison of bytes can fail: copies of the encoder with one fault each
// (CMakeLists.txt) run beside the encoder, which the other tests compare with the scalar
// specification. Under the thread sanitizer it finds the missing barriers.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/launch.h"
#include "core/codec/cuda/thc/thc.h"

#include <planted_thc_faults/levels_of_zeros.cu>
#include <planted_thc_faults/no_barrier_of_levels.cu>
#include <planted_thc_faults/no_fault.cu>
#include <planted_thc_faults/no_first_barrier.cu>
#include <planted_thc_faults/no_second_barrier.cu>

namespace tributary::emulated {
namespace {

using Encode = decltype(encode_levels);

struct Encoder {
  const char* name;
  Encode* encode;
};

// Encodes three tiles with two blocks of threads; the first tile has blocks of zeros.
Result<Bytes> encoded(const Queue& queue, const Encoder& encoder) {
  constexpr std::uint32_t kValues = 3 * 4096;
  FloatVector update = codec_testing::update(codec_testing::Pattern::normal, kValues, 0);
  std::fill_n(update.begin(), 2048, 0.0f);
  const ThcBlocks blocks = ThcBlocks::of({.block = 1024}, kValues);
  TRIBUTARY_ASSIGN(const auto levels, thc::levels_for({.granularity = 63, .p = 0.01}));
  const ThcRun run[] = {ThcRun::of(blocks, *levels, levels->bits, 0)};
  const thc::Rounding rounding = {.key = {1, 2}};
  TRIBUTARY_ASSIGN(const auto x, DeviceArray<float>::copy_of(queue, update));
  TRIBUTARY_ASSIGN(const auto runs, DeviceArray<ThcRun>::copy_of(queue, run));
  TRIBUTARY_ASSIGN(auto norms, DeviceArray<float>::make(blocks.blocks()));
  TRIBUTARY_ASSIGN(auto flag, DeviceArray<std::uint32_t>::make(1));
  TRIBUTARY_ASSIGN(auto out, DeviceArray<std::uint8_t>::make(kValues / 2));
  TRIBUTARY_TRY(find_norms(queue, x.data(), blocks, norms.data(), flag.data()));
  TRIBUTARY_TRY(encoder.encode(queue, x.data(), blocks, norms.data(),
                               {runs.data(), nullptr, nullptr}, rounding, nullptr, out.data()));
  Bytes bytes(out.size());
  TRIBUTARY_TRY(out.read(queue, bytes));
  return bytes;
}

bool agree(const Encoder& encoder) {
  const auto queue = Queue::make(2);
  if (!queue.ok()) return false;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    set_order_seed(seed);
    const auto expected = encoded(*queue, {"", encode_levels});
    const auto got = encoded(*queue, encoder);
    if (!expected.ok() || !got.ok() || *expected != *got) return false;
  }
  return true;
}

// Runs the comparison in another process, because a sanitizer ends the process.
void expect_end(const Encoder& encoder, bool found) {
#ifdef TRIBUTARY_FINDS_RACES
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a second OS thread runs blocks
#endif
  EXPECT_EXIT({ std::exit(agree(encoder) ? 0 : 1); },
              [&](int status) { return found != (WIFEXITED(status) && WEXITSTATUS(status) == 0); },
              "")
      << encoder.name;
}

#define ENCODER(fault) \
  Encoder { #fault, fault::encode_levels }

TEST(PlantedThcFaults, AreFound) {
  for (const Encoder& encoder : {ENCODER(no_first_barrier), ENCODER(no_second_barrier),
                                 ENCODER(no_barrier_of_levels), ENCODER(levels_of_zeros)}) {
    expect_end(encoder, true);
  }
}

TEST(PlantedThcFaults, EncoderWithoutFaultPasses) { expect_end(ENCODER(no_fault), false); }

}  // namespace
}  // namespace tributary::emulated
