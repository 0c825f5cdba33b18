// Shows that a comparison with the scalar specification finds faults in the coding of zero runs:
// copies of the encoder with one fault each (CMakeLists.txt) write other bytes.
#include <gtest/gtest.h>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/emulated/emulated_testing.h"
#include "core/codec/cuda/threelc/loops.h"

#include <planted_runs/forgotten_run.cu>
#include <planted_runs/lost_end.cu>
#include <planted_runs/no_fault_in_runs.cu>
#include <planted_runs/unwritten_bytes.cu>

namespace tributary::emulated {
namespace {

using threelc::Layout;
using threelc::TernaryOptions;

using Encode = Status (*)(const Queue& queue, const TernaryEncoding& encoding);

// A run continues in the second tile, and the last byte is a run of its own.
FloatVector update_with_runs() {
  const std::size_t bytes = 2 * ternary_tile_bytes();
  FloatVector update(bytes * threelc::Quartic::kDigits, 0.0f);
  for (std::size_t i = 0; i + 1 < bytes; ++i) {
    if (i + 20 < ternary_tile_bytes() || i > ternary_tile_bytes() + 9) update[i] = 1;
  }
  return update;
}

bool is_the_specifications(Encode encode, std::uint32_t seed) {
  const TernaryOptions options = {.zero_run = true};
  const FloatVector update = update_with_runs();
  const auto codec = threelc::make_ternary_codec("threelc", options);
  const StageCall call = {.round = {}, .execution = {.backend = Backend::scalar}};
  Bytes payload;
  EXPECT_TRUE(codec->make_encoder(static_cast<std::uint32_t>(update.size()))
                  ->encode(call, update, payload)
                  .ok());
  const ByteSpan expected = open_payload({}, payload)->body;

  set_order_seed(seed);
  Workspaces workspaces;
  auto space = workspaces.take();
  const Layout layout = *Layout::make({}, update.size(), options.layout());
  const auto x = space->upload(std::span(update));
  const auto encoding = prepare_ternary_encoding(*space, options, layout, {}, *x);
  EXPECT_TRUE(encode(space->queue(), *encoding).ok());
  Bytes got(expected.size());
  EXPECT_TRUE(space->download(encoding->body, std::span(got)).ok());
  EXPECT_TRUE(space->wait().ok());
  return got == Bytes(expected.begin(), expected.end());
}

TEST(PlantedRuns, AreFound) {
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    EXPECT_TRUE(is_the_specifications(no_fault_in_runs::encode_ternary, seed));
    EXPECT_FALSE(is_the_specifications(forgotten_run::encode_ternary, seed));
    EXPECT_FALSE(is_the_specifications(lost_end::encode_ternary, seed));
    EXPECT_FALSE(is_the_specifications(unwritten_bytes::encode_ternary, seed));
  }
}

}  // namespace
}  // namespace tributary::emulated
