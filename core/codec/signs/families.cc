#include "core/codec/signs/families.h"

#include <array>

namespace tributary::signs {
namespace {

constexpr std::array<ParamSpec, 1> kVoteParams = {{{.name = "scale",
                                                    .kind = ParamKind::real,
                                                    .default_value = "1",
                                                    .min = 0x1p-20,
                                                    .max = 0x1p20,
                                                    .help = "what a vote is worth"}}};
constexpr std::array<ParamSpec, 1> kBlockParams = {{{.name = "block",
                                                     .kind = ParamKind::power_of_two,
                                                     .default_value = "4096",
                                                     .min = 64,
                                                     .max = 65536,
                                                     .help = "values that share a magnitude"}}};

constexpr std::array<CodecFamily, 3> kFamilies = {{
    {.name = "signsgd",
     .summary = "signs alone, decided by majority vote",
     .params = kVoteParams,
     .make = make_signsgd},
    {.name = "ef_signsgd",
     .summary = "signs times the mean magnitude of their block",
     .params = kBlockParams,
     .make = make_ef_signsgd},
    {.name = "onebit",
     .summary = "signs, with one mean for each sign in a block",
     .params = kBlockParams,
     .make = make_onebit},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::signs
