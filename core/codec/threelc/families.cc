#include "core/codec/threelc/families.h"

#include <fmt/format.h>

#include <array>

#include "core/codec/threelc/ternary.h"

namespace tributary::threelc {
namespace {

constexpr std::array<std::string_view, 2> kSwitch = {"on", "off"};

constexpr std::array<ParamSpec, 5> kThreelcParams = {{
    {.name = "s",
     .kind = ParamKind::real,
     .default_value = "1",
     .min = 1,
     .max = 1.999,
     .help = "sparsity multiplier: a larger one sends fewer, larger values"},
    {.name = "zero_run",
     .kind = ParamKind::choice,
     .default_value = "on",
     .choices = kSwitch,
     .help = "off: 1.6 bits per value whatever the values are"},
    {.name = "bypass",
     .kind = ParamKind::integer,
     .default_value = "256",
     .min = 0,
     .max = 65536,
     .help = "layers of fewer values than this travel as float32"},
    {.name = "block",
     .kind = ParamKind::integer,
     .default_value = "0",
     .min = 0,
     .max = 1 << 20,
     .help = "an M for every so many values of a layer, 64 or more; 0: one for all of it"},
    {.name = "clip",
     .kind = ParamKind::real,
     .default_value = "2.5",
     .min = 0,
     .max = 10,
     .help = "M is at most s times this many root mean squares; 0: s * max|x|, as in the paper"},
}};

constexpr std::array<ParamSpec, 1> kTerngradParams = {{
    {.name = "clip",
     .kind = ParamKind::real,
     .default_value = "2.5",
     .min = 0,
     .max = 10,
     .help = "clip at this many root mean squares of a layer; 0: do not clip"},
}};

// M and the length of a chunk take six bytes per block, so smaller blocks would cost too much.
constexpr std::int64_t kBlockMin = 64;

Result<std::unique_ptr<Codec>> make_threelc(const Params& params) {
  const std::int64_t block = params.integer("block");
  if (block != 0 && block < kBlockMin) {
    return Status(StatusCode::invalid_argument,
                  {.what = "threelc: block",
                   .expected = fmt::format("0, or {} or more", kBlockMin),
                   .got = fmt::format("{}", block),
                   .remedy = {}});
  }
  return make_ternary_codec(params.canonical("threelc"),
                            {.sparsity = static_cast<float>(params.real("s")),
                             .clip = params.real("clip"),
                             .zero_run = params.choice("zero_run") == "on",
                             .bypass = static_cast<std::uint32_t>(params.integer("bypass")),
                             .block = static_cast<std::uint32_t>(block)});
}

Result<std::unique_ptr<Codec>> make_stoch3(const Params& params) {
  return make_ternary_codec(params.canonical("stoch3"), {.random_digits = true});
}

Result<std::unique_ptr<Codec>> make_terngrad(const Params& params) {
  return make_ternary_codec(params.canonical("terngrad"),
                            {.random_digits = true, .clip = params.real("clip"), .two_bit = true});
}

constexpr std::array<CodecFamily, 3> kFamilies = {{
    {.name = "threelc",
     .summary = "3LC: three values, five to a byte, runs of zeros shortened",
     .params = kThreelcParams,
     .make = make_threelc},
    {.name = "stoch3",
     .summary = "three values rounded at random, five to a byte",
     .params = {},
     .make = make_stoch3},
    {.name = "terngrad",
     .summary = "TernGrad: three values rounded at random after clipping, two bits each",
     .params = kTerngradParams,
     .make = make_terngrad},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::threelc
