// Shows that the tests of the kernels can fail: copies of the kernels with one fault each
// (CMakeLists.txt) run through the comparison with the scalar specification, and each fault is
// found. Some faults change a result, some are errors of the emulated device; a sanitizer finds the
// others, in its preset.
#include <gtest/gtest.h>

#include <sys/wait.h>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/launch.h"
#include "core/codec/cuda/quantize/quantize.h"
#include "core/codec/quantize/elements.h"
#include "core/codec/quantize/kernels.h"

#include <planted_faults/divergent_barrier.cu>
#include <planted_faults/forgotten_maximum.cu>
#include <planted_faults/no_fault.cu>
#include <planted_faults/no_first_barrier.cu>
#include <planted_faults/no_second_barrier.cu>
#include <planted_faults/overrun.cu>
#include <planted_faults/plain_maximum.cu>
#include <planted_faults/wrong_tail.cu>

namespace tributary::emulated {
namespace {

using codec_testing::Pattern;
using quantize::scalar_kernels;

struct Kernels {
  const char* name;
  Status (*encode_halves)(const Queue& queue, const float* x, std::uint32_t n, std::uint16_t* out,
                          std::uint32_t* largest);
  Status (*encode_levels)(const Queue& queue, const float* x, std::uint32_t n,
                          const LevelFormat& format, float* scales, std::int8_t* levels);
};

// Three values beyond a multiple of four, and several turns for each of two blocks.
constexpr std::uint32_t kValues = 9003;
constexpr LevelFormat kFormat = {.block = 1024};

bool halves_agree(const Kernels& kernels, const Queue& queue, const FloatVector& update) {
  RawVector<std::uint16_t> expected(kValues);
  const std::uint32_t expected_largest =
      scalar_kernels().to_half(update.data(), kValues, expected.data());
  const auto x = DeviceArray<float>::copy_of(queue, update);
  auto words = DeviceArray<std::uint16_t>::make(kValues);
  auto largest = DeviceArray<std::uint32_t>::copy_of(queue, RawVector<std::uint32_t>(1, 0));
  RawVector<std::uint16_t> got(kValues);
  RawVector<std::uint32_t> got_largest(1);
  return x.ok() && words.ok() && largest.ok() &&
         kernels.encode_halves(queue, x->data(), kValues, words->data(), largest->data()).ok() &&
         words->read(queue, got).ok() && largest->read(queue, got_largest).ok() &&
         got == expected && got_largest[0] == expected_largest;
}

bool levels_agree(const Kernels& kernels, const Queue& queue, const FloatVector& update) {
  const std::uint32_t blocks = (kValues + kFormat.block - 1) / kFormat.block;
  FloatVector expected_scales(blocks);
  RawVector<std::int8_t> expected(kValues);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t begin = block * kFormat.block;
    const std::uint32_t size = std::min(kFormat.block, kValues - begin);
    expected_scales[block] =
        std::bit_cast<float>(scalar_kernels().largest_magnitude(update.data() + begin, size));
    scalar_kernels().to_nearest_levels(
        update.data() + begin, size, quantize::block_scale(expected_scales[block]).levels_per_unit,
        expected.data() + begin);
  }
  const auto x = DeviceArray<float>::copy_of(queue, update);
  auto scales = DeviceArray<float>::make(blocks);
  auto levels = DeviceArray<std::int8_t>::make(kValues);
  FloatVector got_scales(blocks);
  RawVector<std::int8_t> got(kValues);
  return x.ok() && scales.ok() && levels.ok() &&
         kernels.encode_levels(queue, x->data(), kValues, kFormat, scales->data(), levels->data())
             .ok() &&
         scales->read(queue, got_scales).ok() && levels->read(queue, got).ok() &&
         got_scales == expected_scales && got == expected;
}

bool agree(const Kernels& kernels) {
  const auto queue = Queue::make(2);
  const FloatVector update = codec_testing::update(Pattern::lognormal, kValues, 0);
  bool all = queue.ok();
  for (std::uint32_t seed = 0; seed < 4 && all; ++seed) {
    set_order_seed(seed);
    all = halves_agree(kernels, *queue, update) && levels_agree(kernels, *queue, update);
  }
  return all;
}

#define KERNELS(fault) \
  Kernels { #fault, fault::encode_halves, fault::encode_levels }

// Runs the comparison in another process, because a sanitizer ends the process.
void expect_end(const Kernels& kernels, bool found) {
#ifdef TRIBUTARY_FINDS_RACES
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a second OS thread runs blocks
#endif
  EXPECT_EXIT({ std::exit(agree(kernels) ? 0 : 1); },
              [&](int status) { return found != (WIFEXITED(status) && WEXITSTATUS(status) == 0); },
              "")
      << kernels.name;
}

class PlantedFaults : public testing::TestWithParam<Kernels> {};

TEST_P(PlantedFaults, AreFound) { expect_end(GetParam(), true); }

TEST(PlantedFaults, KernelsWithoutFaultPass) { expect_end(KERNELS(no_fault), false); }

constexpr Kernels kFaults[] = {
    KERNELS(no_first_barrier),  KERNELS(divergent_barrier),
    KERNELS(forgotten_maximum), KERNELS(wrong_tail),
#ifdef TRIBUTARY_FINDS_OVERRUNS
    KERNELS(overrun),
#endif
#ifdef TRIBUTARY_FINDS_RACES
    KERNELS(no_second_barrier), KERNELS(plain_maximum),
#endif
};

INSTANTIATE_TEST_SUITE_P(Kernels, PlantedFaults, testing::ValuesIn(kFaults),
                         [](const auto& fault) { return std::string(fault.param.name); });

}  // namespace
}  // namespace tributary::emulated
