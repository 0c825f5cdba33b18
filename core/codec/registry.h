// The list of all codec families, and the function that makes a codec from a spec string.
//
// The list is constant after its first use. All threads may call both functions.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/spec.h"

namespace tributary {

// A codec with parameters, such as "int8" with its block size.
struct CodecFamily {
  std::string_view name;
  std::string_view summary;  // one sentence for lists of codecs
  std::span<const ParamSpec> params;
  // Makes a codec. Returns invalid_argument for a combination of parameters that are valid
  // individually but not together.
  Result<std::unique_ptr<Codec>> (*make)(const Params& params);
};

// All families of this build, in the order in which lists show them.
std::span<const CodecFamily> codec_families();

// Makes the codec of a spec string. Returns not_found for an unknown name, and invalid_argument for
// a malformed spec or a parameter out of bounds; the remedy suggests the nearest name.
Result<std::unique_ptr<Codec>> make_codec(std::string_view spec);

}  // namespace tributary
