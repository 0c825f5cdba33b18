// Measures every codec of the registry on one core: encode (all stages), aggregate and decode,
// compared with memcpy.
#include <memory>

#include "bench/harness/harness.h"
#include "bench/harness/peers.h"
#include "core/codec/lone_codec_testing.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

using bench::Case;
using bench::Goal;
using bench::Settings;
using bench_testing::Lone;

// The target rate as a share of memcpy's, for the codecs that have one. All others are reported
// without a target (0).
double goal_of(std::string_view family) {
  return family == "fp16" || family == "bf16" || family == "int8" ? 0.5 : 0;
}

std::vector<Case> codec_cases(const Settings& settings) {
  const bench::SharedUpdate update = bench::normal_update(settings.bucket_bytes);
  const auto bytes = static_cast<double>(settings.bucket_bytes);
  std::vector<Case> cases;
  cases.push_back(bench::memcpy_case(update));
  cases.push_back(bench::zstd_encode_case(update, 1));
  cases.push_back(bench::zstd_decode_case(update, 1));
  for (const CodecFamily& family : codec_families()) {
    const auto lone = std::make_shared<Lone>(std::string(family.name), *update);
    const std::string name(family.name);
    const std::vector<Goal> goals = {{.peer = "memcpy", .ratio_min = goal_of(name)}};
    cases.push_back({.name = name + " encode",
                     .bytes = bytes,
                     .run = [lone, update] { lone->encode(Backend::simd); },
                     .check = [lone] { return lone->check_encoding(); },
                     .goals = goals});
    cases.push_back({.name = name + " aggregate",
                     .bytes = bytes,
                     .run = [lone] { lone->aggregate(); },
                     .check = [lone] { return lone->check_aggregate(); },
                     .goals = {{.peer = "memcpy"}}});
    cases.push_back({.name = name + " decode",
                     .bytes = bytes,
                     .run = [lone] { lone->decode(); },
                     .check = [lone] { return lone->check_decoding(); },
                     .goals = goals});
  }
  return cases;
}

const bench::Registration kCodec({.name = "codec",
                                  .about = "every codec on one core, 64 MiB unless told otherwise",
                                  .build = codec_cases});

}  // namespace
}  // namespace tributary
