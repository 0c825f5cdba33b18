#include "core/codec/lowrank/families.h"

#include <array>

#include "core/codec/lowrank/kernels.h"

namespace tributary::lowrank {
namespace {

constexpr std::array<ParamSpec, 1> kPowersgdParams = {
    {{.name = "rank",
      .kind = ParamKind::integer,
      .default_value = "4",
      .min = 1,
      .max = kRankMax,
      .help = "columns of each factor; a matrix that they would not shrink is sent raw"}}};

constexpr std::array<CodecFamily, 1> kFamilies = {{
    {.name = "powersgd",
     .summary = "PowerSGD: every matrix as a product of two thin ones, summed without decoding",
     .params = kPowersgdParams,
     .make = make_powersgd},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::lowrank
