// All codec families, and the one way from a spec string to a codec.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/spec.h"

namespace tributary {

struct CodecFamily {
  std::string_view name;
  std::string_view summary;  // one line for a list
  std::span<const ParamSpec> params;
  // May still refuse a combination of parameters that are fine one by one.
  Result<std::unique_ptr<Codec>> (*make)(const Params& params);
};

std::span<const CodecFamily> codec_families();

Result<std::unique_ptr<Codec>> make_codec(std::string_view spec);

}  // namespace tributary
