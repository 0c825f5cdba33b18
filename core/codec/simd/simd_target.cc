#include "core/codec/simd/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/codec/simd/simd_target.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::HWY_NAMESPACE {

// Dispatched like every kernel, so that it reports the selected instruction set and not the best
// supported one.
const char* name_of_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace tributary::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary {

HWY_EXPORT(name_of_target);
std::string_view simd_target() { return HWY_DYNAMIC_DISPATCH(name_of_target)(); }

}  // namespace tributary
#endif
