#include "core/codec/cuda/gpu/threelc_cases.h"

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/codec/cuda/threelc/loops.h"
#include "core/codec/payload.h"

namespace tributary::cuda {
namespace {

using threelc::Layout;
using threelc::TernaryOptions;

// A bucket on the device, and what the scalar specification makes of it.
class TernaryBucket {
 public:
  static Result<std::shared_ptr<TernaryBucket>> make(const TernaryOptions& options,
                                                     std::span<const LayerRun> layers,
                                                     const FloatVector& update) {
    TRIBUTARY_ASSIGN(Workspace space, Workspaces().take());
    TRIBUTARY_ASSIGN(const Layout layout,
                     Layout::make({.layers = layers}, update.size(), options.layout()));
    auto bucket = std::shared_ptr<TernaryBucket>(new TernaryBucket(options, std::move(space)));
    TRIBUTARY_TRY(bucket->specify(layers, update));
    TRIBUTARY_TRY(bucket->upload(update, layout));
    return bucket;
  }

  Status encode(const Queue& queue) const { return encode_ternary(queue, encoding_); }
  Status decode(const Queue& queue) const { return decode_ternary(queue, decoding_); }

  Status check_encoding(const Queue& queue) const {
    Bytes got(specified_.body.size());
    TRIBUTARY_TRY(copy_to_host(queue, encoding_.body, got.size(), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(std::memcmp(got.data(), specified_.body.data(), got.size()) == 0,
                             "the body");
  }
  Status check_decoding(const Queue& queue) const {
    FloatVector got(specified_.decoded.size());
    TRIBUTARY_TRY(copy_to_host(queue, decoding_.x, got.size() * sizeof(float), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(
        std::memcmp(got.data(), specified_.decoded.data(), got.size() * sizeof(float)) == 0,
        "the decoded values");
  }

 private:
  TernaryBucket(const TernaryOptions& options, Workspace space)
      : options_(options), space_(std::move(space)) {}

  Status specify(std::span<const LayerRun> layers, const FloatVector& update) {
    const auto codec = threelc::make_ternary_codec("threelc", options_);
    TRIBUTARY_ASSIGN(specified_, Specified::of(*codec, update, layers));
    return {};
  }

  Status upload(const FloatVector& update, const Layout& layout) {
    const StreamKey draws = stream_key({.purpose = DrawPurpose::rounding, .agent = 0});
    TRIBUTARY_ASSIGN(const auto* const x, space_.upload(std::span(update)));
    TRIBUTARY_ASSIGN(encoding_, prepare_ternary_encoding(space_, options_, layout, draws, x));
    TRIBUTARY_ASSIGN(const auto* const body,
                     space_.upload(std::span(std::as_const(specified_.body))));
    TRIBUTARY_ASSIGN(auto* const back, space_.array<float>(update.size()));
    TRIBUTARY_ASSIGN(decoding_, prepare_ternary_decoding(space_, options_, layout, body,
                                                         specified_.body.size(), false, back));
    return space_.wait();
  }

  const TernaryOptions options_;
  Workspace space_;
  TernaryEncoding encoding_ = {};
  TernaryDecoding decoding_ = {};
  Specified specified_;
};

}  // namespace

Result<std::vector<DeviceCase>> threelc_cases(const FloatVector& update) {
  // Layers whose stripes do not begin at multiples of four values.
  const auto n = static_cast<std::uint32_t>(update.size());
  const std::uint32_t first = n / 2 + 1;
  const std::vector<LayerRun> odd = {{.offset = 0, .count = first},
                                     {.offset = first, .count = n - first}};
  struct Case {
    std::string codec;
    std::string suffix;
    TernaryOptions options;
    std::vector<LayerRun> layers = {};
  };
  const Case kinds[] = {{"threelc", "", {.clip = 2.5, .zero_run = true}},
                        {"threelc", ", odd layers", {.clip = 2.5, .zero_run = true}, odd},
                        {"threelc:s=1.75", "", {.sparsity = 1.75f, .clip = 2.5, .zero_run = true}},
                        {"threelc:clip=0", "", {.zero_run = true}},
                        {"stoch3", "", {.random_digits = true}},
                        {"terngrad", "", {.random_digits = true, .clip = 2.5, .two_bit = true}}};
  std::vector<DeviceCase> cases;
  for (const Case& kind : kinds) {
    TRIBUTARY_ASSIGN(const auto bucket, TernaryBucket::make(kind.options, kind.layers, update));
    add_cases(kind.codec, kind.suffix, update.size() * sizeof(float), bucket, cases);
  }
  return cases;
}

}  // namespace tributary::cuda
