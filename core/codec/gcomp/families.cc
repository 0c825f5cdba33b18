#include "core/codec/gcomp/families.h"

#include <array>

namespace tributary::gcomp {
namespace {

constexpr std::array<std::string_view, 6> kTruncations = {"feedback", "metric", "none",
                                                          "6",        "12",     "18"};

constexpr std::array<ParamSpec, 4> kParams = {{
    {.name = "truncation",
     .kind = ParamKind::choice,
     .default_value = "feedback",
     .choices = kTruncations,
     .help = "mantissa bits left out: 12 or 18 (error feedback sends them later), what the "
             "optimizer ignores, none, or so many of all"},
    {.name = "slack",
     .kind = ParamKind::integer,
     .default_value = "0",
     .min = 0,
     .max = 12,
     .help = "bits that are left out besides, by the metric; error feedback sends them later"},
    {.name = "rebuild",
     .kind = ParamKind::integer,
     .default_value = "50",
     .min = 1,
     .max = 1'000'000,
     .help = "rounds between two codebooks"},
    {.name = "max_length",
     .kind = ParamKind::integer,
     .default_value = "8",
     .min = 2,
     .max = 8,
     .help = "bits of the longest exponent code"},
}};

constexpr std::array<CodecFamily, 1> kFamilies = {{
    {.name = "gcomp",
     .summary = "Huffman-coded exponents, mantissas of 11 or 5 bits by the optimizer's state",
     .params = kParams,
     .make = make_gcomp},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::gcomp
