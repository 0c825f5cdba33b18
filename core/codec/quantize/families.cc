#include "core/codec/quantize/families.h"

#include <array>

#include "core/codec/quantize/packed_levels.h"

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

constexpr std::array<std::string_view, 2> kNorms = {"l2", "max"};
constexpr std::array<ParamSpec, 3> kQsgdParams = {{{.name = "bits",
                                                    .kind = ParamKind::integer,
                                                    .default_value = "4",
                                                    .min = kPackedBitsMin,
                                                    .max = kPackedBitsMax,
                                                    .help = "a sign and the rest magnitude"},
                                                   {.name = "block",
                                                    .kind = ParamKind::power_of_two,
                                                    .default_value = "512",
                                                    .min = 64,
                                                    .max = 65536,
                                                    .help = "values that share a norm"},
                                                   {.name = "norm",
                                                    .kind = ParamKind::choice,
                                                    .default_value = "l2",
                                                    .choices = kNorms,
                                                    .help = "what the largest level stands for"}}};

constexpr std::array<CodecFamily, 6> kFamilies = {{
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
    {.name = "qsgd",
     .summary = "QSGD: a sign and a randomly rounded magnitude in 2 to 8 bits",
     .params = kQsgdParams,
     .make = make_qsgd},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::quantize
