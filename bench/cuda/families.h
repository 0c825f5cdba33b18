// The families of codecs whose kernels the benchmark measures.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/codec/cuda/gpu/device_case_testing.h"
#include "core/codec/cuda/gpu/gcomp_cases.h"
#include "core/codec/cuda/gpu/lowrank_cases.h"
#include "core/codec/cuda/gpu/qsgd_cases.h"
#include "core/codec/cuda/gpu/quantize_cases.h"
#include "core/codec/cuda/gpu/signs_cases.h"
#include "core/codec/cuda/gpu/sparse_cases.h"
#include "core/codec/cuda/gpu/thc_cases.h"
#include "core/codec/cuda/gpu/threelc_cases.h"

namespace tributary::bench {

struct Family {
  std::string_view name;
  Result<std::vector<cuda::DeviceCase>> (*cases)(const FloatVector& update);
};

// A new family is one line here and one include above.
inline constexpr Family kFamilies[] = {
    {"quantize", cuda::quantize_cases}, {"qsgd", cuda::qsgd_cases},
    {"thc", cuda::thc_cases},           {"threelc", cuda::threelc_cases},
    {"sparse", cuda::sparse_cases},     {"gcomp", cuda::gcomp_cases},
    {"signs", cuda::signs_cases},       {"lowrank", cuda::lowrank_cases},
};

}  // namespace tributary::bench
