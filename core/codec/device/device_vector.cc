#include "core/codec/device/device_vector.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/codec/codec.h"

namespace tributary {
namespace {

constexpr std::array<std::string_view, 12> kFromDevice = {
    "fp16",    "bf16",   "int8",     "int8_shared", "qsgd",       "thc",
    "threelc", "stoch3", "terngrad", "signsgd",     "ef_signsgd", "onebit"};

}  // namespace

bool encodes_from_device(const Codec& codec) {
  const std::string_view spec = codec.spec();
  return std::ranges::find(kFromDevice, spec.substr(0, spec.find(':'))) != kFromDevice.end();
}

}  // namespace tributary
