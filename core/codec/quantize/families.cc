#include "core/codec/quantize/families.h"

#include <array>

namespace tributary::quantize {
namespace {

constexpr std::array<std::string_view, 2> kRoundings = {"nearest", "random"};

constexpr ParamSpec kBlock = {.name = "block",
                              .kind = ParamKind::power_of_two,
                              .default_value = "4096",
                              .min = 64,
                              .max = 65536,
                              .help = "values that share a scale"};
constexpr ParamSpec kRounding = {.name = "rounding",
                                 .kind = ParamKind::choice,
                                 .default_value = "nearest",
                                 .choices = kRoundings,
                                 .help = "random rounding is unbiased without error feedback"};
constexpr std::array<ParamSpec, 2> kInt8Params = {kBlock, kRounding};

constexpr std::array<CodecFamily, 5> kFamilies = {{
    {.name = "fp32", .summary = "float32 as it is", .params = {}, .make = make_fp32},
    {.name = "fp16", .summary = "IEEE half precision", .params = {}, .make = make_fp16},
    {.name = "bf16", .summary = "bfloat16", .params = {}, .make = make_bf16},
    {.name = "int8",
     .summary = "8-bit integers, one scale per block",
     .params = kInt8Params,
     .make = make_int8},
    {.name = "int8_shared",
     .summary = "8-bit integers with the agents' common scales: sums without decoding",
     .params = kInt8Params,
     .make = make_int8_shared},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::quantize
