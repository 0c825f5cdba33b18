// The loops over blocks on the host's cores, as DeviceLoops has them on a device.
#pragma once

#include <cstdint>
#include <span>

#include "core/codec/codec.h"
#include "core/codec/thc/body.h"
#include "core/codec/thc/device/device_loops.h"
#include "core/codec/thc/kernels.h"
#include "core/codec/thc/options.h"

namespace tributary::thc {

// Writes the numbers of stage 0. Returns false if a value is Inf or NaN.
bool write_ranges(const StageCall& call, const Options& options, std::span<const float> values,
                  float* norms);

// Writes the fields of stage 1, at the places that the plan gives to blocks. A value outside the
// agreed range is clamped, and error feedback keeps the excess.
void write_levels(const StageCall& call, const Options& options, const FieldPlan& plan,
                  const Rounding& rounding, std::span<const float> values,
                  std::span<const float> norms, std::uint8_t* fields);

DeviceLoops::Checks decode_levels(const StageCall& call, const Options& options,
                                  const FieldPlan& plan, const Fields& fields,
                                  std::span<const float> norms, std::span<float> sum);

}  // namespace tributary::thc
