#include "core/codec/sparse/families.h"

#include <array>

namespace tributary::sparse {
namespace {

// Whether the largest values are chosen within a bucket or within each layer.
constexpr std::array<std::string_view, 2> kScopes = {"bucket", "layer"};

// The share of the values that is kept; papers call it the compression ratio.
constexpr ParamSpec kRatio = {.name = "cr",
                              .kind = ParamKind::real,
                              .default_value = "0.01",
                              .min = 1e-6,
                              .max = 1,
                              .help = "fraction of the values that is kept"};
constexpr ParamSpec kSample = {.name = "sample",
                               .kind = ParamKind::real,
                               .default_value = "0.01",
                               .min = 1e-4,
                               .max = 1,
                               .help = "fraction of the values that the threshold is taken from"};
constexpr std::array<ParamSpec, 1> kRatioAlone = {kRatio};
constexpr std::array<ParamSpec, 2> kTopkParams = {
    kRatio, ParamSpec{.name = "scope",
                      .kind = ParamKind::choice,
                      .default_value = "bucket",
                      .choices = kScopes,
                      .help = "what the fraction is kept of: the bucket, or each of its layers"}};
constexpr std::array<ParamSpec, 2> kMstopkParams = {
    kRatio, ParamSpec{.name = "bisections",
                      .kind = ParamKind::integer,
                      .default_value = "25",
                      .min = 1,
                      .max = 25,
                      .help = "how often the threshold's bracket is halved, at most"}};
constexpr std::array<ParamSpec, 4> kDgcParams = {
    kRatio,
    ParamSpec{.name = "momentum",
              .kind = ParamKind::real,
              .default_value = "0.9",
              .min = 0,
              .max = 0.99,
              .help = "of the correction; the optimizer's own must be off"},
    kSample,
    ParamSpec{.name = "warmup",
              .kind = ParamKind::integer,
              .default_value = "0",
              .min = 0,
              .max = 1'000'000,
              .help = "rounds in which the ratio falls from a quarter, by quarters"}};
constexpr std::array<ParamSpec, 2> kThresholdParams = {
    ParamSpec{.name = "keep",
              .kind = ParamKind::real,
              .default_value = "0.25",
              .min = 1e-6,
              .max = 1,
              .help = "fraction of the sample that reaches the threshold"},
    kSample};

// The order is that of `tributary codec list`.
constexpr std::array<CodecFamily, 7> kFamilies = {{
    {.name = "topk",
     .summary = "the largest magnitudes, exactly as many as asked for",
     .params = kTopkParams,
     .make = make_topk},
    {.name = "mstopk",
     .summary = "MS-Topk: the largest magnitudes by a bisected threshold",
     .params = kMstopkParams,
     .make = make_mstopk},
    {.name = "dgc",
     .summary = "Deep Gradient Compression: momentum correction, masking, sampled threshold",
     .params = kDgcParams,
     .make = make_dgc},
    {.name = "threshold",
     .summary = "all magnitudes above a sampled threshold, with a bitmap (3LC's baseline)",
     .params = kThresholdParams,
     .make = make_threshold},
    {.name = "randk",
     .summary = "values at random places that all agents know: sums without decoding",
     .params = kRatioAlone,
     .make = make_randk},
    {.name = "star_topk",
     .summary = "AR-Topk: values at one agent's largest magnitudes, agents taking turns",
     .params = kRatioAlone,
     .make = make_star_topk},
    {.name = "var_topk",
     .summary = "AR-Topk: values at the largest magnitudes of the agent with the most energy",
     .params = kRatioAlone,
     .make = make_var_topk},
}};

}  // namespace

std::span<const CodecFamily> families() { return kFamilies; }

}  // namespace tributary::sparse
