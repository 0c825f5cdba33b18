#include "core/codec/registry.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/nearest.h"
#include "core/codec/gcomp/families.h"
#include "core/codec/lossless/families.h"
#include "core/codec/lowrank/families.h"
#include "core/codec/quantize/families.h"
#include "core/codec/signs/families.h"
#include "core/codec/sparse/families.h"
#include "core/codec/thc/families.h"
#include "core/codec/threelc/families.h"

namespace tributary {

std::span<const CodecFamily> codec_families() {
  // The families are listed explicitly. Self-registration would depend on which object files a
  // linker keeps.
  static const std::vector<CodecFamily> kFamilies = [] {
    std::vector<CodecFamily> all;
    for (const auto families :
         {quantize::families(), signs::families(), threelc::families(), thc::families(),
          sparse::families(), lowrank::families(), gcomp::families(), lossless::families()}) {
      all.insert(all.end(), families.begin(), families.end());
    }
    return all;
  }();
  return kFamilies;
}

Result<std::unique_ptr<Codec>> make_codec(std::string_view spec) {
  TRIBUTARY_ASSIGN(const SpecText text, split_spec(spec));
  std::vector<std::string_view> names;
  for (const CodecFamily& family : codec_families()) {
    if (family.name == text.name) {
      TRIBUTARY_ASSIGN(const Params params, Params::make(text, family.params));
      return family.make(params);
    }
    names.push_back(family.name);
  }
  return Status(StatusCode::not_found, {.what = fmt::format("codec '{}'", text.name),
                                        .expected = "a codec that this build has",
                                        .got = "an unknown name",
                                        .remedy = did_you_mean(text.name, names)});
}

}  // namespace tributary
