#include "core/codec/thc/families.h"

#include <array>

#include "core/codec/thc/options.h"

namespace tributary::thc {
namespace {

// Blocks that stay in the first-level cache. Blocks that share a rate gain more by being small than
// their norms cost.
constexpr std::uint32_t kUsualBlock = 4096;

constexpr std::array<std::string_view, 2> kLevels = {"table", "uniform"};
constexpr std::array<std::string_view, 2> kRotations = {"on", "off"};
constexpr std::array<std::string_view, 2> kRanges = {"norm", "minmax"};
constexpr std::array<std::string_view, 2> kRoundings = {"correlated", "independent"};
constexpr std::array<std::string_view, 3> kDowns = {"exact", "8", "16"};

constexpr std::array<ParamSpec, 11> kParams = {{
    {.name = "bits",
     .kind = ParamKind::integer,
     .default_value = "4",
     .min = 1,
     .max = kBitsMax,
     .help = "of a value on the uplink"},
    {.name = "granularity",
     .kind = ParamKind::integer,
     .default_value = "0",
     .min = 0,
     .max = kGranularityMax,
     .help = "steps of the grid on which levels lie, 2^bits - 1 at least; 0: chosen"},
    {.name = "p",
     .kind = ParamKind::real,
     .default_value = "0",
     .min = 0,
     .max = kShareMax,
     .help = "share of rotated values that is clamped; 0: chosen"},
    {.name = "block",
     .kind = ParamKind::power_of_two,
     .default_value = "0",
     .min = kBlockMin,
     .max = kBlockMax,
     .help = "values that are rotated together; 0: 4096, and 256 with `rate`"},
    {.name = "levels",
     .kind = ParamKind::choice,
     .default_value = "table",
     .choices = kLevels,
     .help = "optimal for the normal distribution, or evenly spaced"},
    {.name = "rotation",
     .kind = ParamKind::choice,
     .default_value = "on",
     .choices = kRotations,
     .help = "of the blocks; off for comparison"},
    {.name = "range",
     .kind = ParamKind::choice,
     .default_value = "norm",
     .choices = kRanges,
     .help = "of a block's levels: by its norm and p, or from its smallest to its largest value"},
    {.name = "rounding",
     .kind = ParamKind::choice,
     .default_value = "correlated",
     .choices = kRoundings,
     .help = "agents' rounding errors cancel out, or only average out"},
    {.name = "down",
     .kind = ParamKind::choice,
     .default_value = "exact",
     .choices = kDowns,
     .help = "bits of a sum on the downlink"},
    {.name = "rate",
     .kind = ParamKind::real,
     .default_value = "0",
     .min = 0,
     .max = kBitsMax,
     .help = "mean bits of a value on the uplink, at least 0.25, shared by the blocks according to "
             "their norms; 0: `bits` for each"},
    {.name = "down_weight",
     .kind = ParamKind::real,
     .default_value = "1",
     .min = 0,
     .max = 64,
     .help = "with `rate`: cost of a bit on the downlink, in bits on the uplink"},
}};

constexpr std::array<CodecFamily, 1> kFamilies = {{
    {.name = "thc",
     .summary = "rotated blocks on shared levels of 1 to 8 bits: sums without decoding",
     .params = kParams,
     .make = make_thc},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

Options Options::from(const Params& params) {
  const std::string_view down = params.choice("down");
  const double rate = params.real("rate");
  const auto block = static_cast<std::uint32_t>(params.integer("block"));
  return {.bits = static_cast<unsigned>(params.integer("bits")),
          .granularity = static_cast<std::uint32_t>(params.integer("granularity")),
          .p = params.real("p"),
          .block = block != 0  ? block
                   : rate != 0 ? kUsualRatedBlock
                               : kUsualBlock,
          .uniform = params.choice("levels") == "uniform",
          .rotated = params.choice("rotation") == "on",
          .minmax = params.choice("range") == "minmax",
          .correlated = params.choice("rounding") == "correlated",
          .down_bits = down == "8"    ? 8u
                       : down == "16" ? 16u
                                      : 0u,
          .rate = rate,
          .down_weight = params.real("down_weight")};
}

}  // namespace tributary::thc
