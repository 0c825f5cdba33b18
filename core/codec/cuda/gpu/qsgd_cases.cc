#include "core/codec/cuda/gpu/qsgd_cases.h"

#include <cstring>
#include <memory>
#include <string>

#include "core/codec/cuda/quantize/qsgd.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/payload.h"
#include "core/codec/quantize/packed_levels.h"
#include "core/codec/registry.h"

namespace tributary::cuda {
namespace {

// A bucket on the device, and what the scalar specification makes of it.
class PackedBucket {
 public:
  static Result<std::shared_ptr<PackedBucket>> make(const std::string& spec,
                                                    const PackedFormat& format,
                                                    const FloatVector& update) {
    TRIBUTARY_ASSIGN(Workspace space, Workspaces().take());
    auto bucket = std::shared_ptr<PackedBucket>(new PackedBucket(format, update, std::move(space)));
    TRIBUTARY_TRY(bucket->specify(spec, update));
    TRIBUTARY_TRY(bucket->upload(update));
    return bucket;
  }

  Status encode(const Queue& queue) const {
    TRIBUTARY_TRY(find_norms(queue, x_, n_, format_, norms_, largest_));
    return to_packed_levels(queue, x_, n_, format_, norms_, packed_);
  }
  Status decode(const Queue& queue) const {
    return from_packed_levels(queue, packed_, n_, format_, norms_, back_);
  }

  Status check_encoding(const Queue& queue) const {
    Bytes got(specified_.body.size());
    TRIBUTARY_TRY(copy_to_host(queue, norms_, norm_bytes(), got.data()));
    TRIBUTARY_TRY(
        copy_to_host(queue, packed_, got.size() - norm_bytes(), got.data() + norm_bytes()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(std::memcmp(got.data(), specified_.body.data(), got.size()) == 0,
                             "the body");
  }
  Status check_decoding(const Queue& queue) const {
    FloatVector got(n_);
    TRIBUTARY_TRY(copy_to_host(queue, back_, got.size() * sizeof(float), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(
        std::memcmp(got.data(), specified_.decoded.data(), got.size() * sizeof(float)) == 0,
        "the decoded values");
  }

 private:
  PackedBucket(const PackedFormat& format, const FloatVector& update, Workspace space)
      : format_(format), n_(static_cast<std::uint32_t>(update.size())), space_(std::move(space)) {}

  std::size_t blocks() const { return (n_ + format_.block - 1) / format_.block; }
  std::size_t norm_bytes() const { return blocks() * sizeof(float); }

  Status specify(const std::string& spec, const FloatVector& update) {
    TRIBUTARY_ASSIGN(const auto codec, make_codec(spec));
    TRIBUTARY_ASSIGN(specified_, Specified::of(*codec, update));
    return {};
  }

  Status upload(const FloatVector& update) {
    const std::vector<std::uint32_t> none(1, 0);
    TRIBUTARY_ASSIGN(x_, space_.upload(std::span(update)));
    TRIBUTARY_ASSIGN(norms_, space_.array<float>(blocks()));
    TRIBUTARY_ASSIGN(packed_, space_.array<std::uint8_t>(
                                  quantize::packed_bytes(n_ + std::size_t{31}, format_.bits)));
    TRIBUTARY_ASSIGN(back_, space_.array<float>(n_));
    TRIBUTARY_ASSIGN(largest_, space_.upload(std::span(none)));
    // A decoder may be measured before the encoder.
    TRIBUTARY_TRY(copy_to_device(space_.queue(), specified_.body.data(), norm_bytes(), norms_));
    TRIBUTARY_TRY(copy_to_device(space_.queue(), specified_.body.data() + norm_bytes(),
                                 specified_.body.size() - norm_bytes(), packed_));
    return space_.wait();
  }

  const PackedFormat format_;
  const std::uint32_t n_;
  Workspace space_;
  const float* x_ = nullptr;
  float* norms_ = nullptr;
  std::uint8_t* packed_ = nullptr;
  float* back_ = nullptr;
  std::uint32_t* largest_ = nullptr;
  Specified specified_;
};

}  // namespace

Result<std::vector<DeviceCase>> qsgd_cases(const FloatVector& update) {
  struct Codec {
    std::string spec;
    PackedFormat format;
  };
  const StreamKey key = stream_key({.purpose = DrawPurpose::rounding, .agent = 0});
  const Codec codecs[] = {
      {"qsgd:bits=4,block=512,norm=l2", {.block = 512, .bits = 4, .euclidean = true, .key = key}},
      {"qsgd:bits=8,block=512,norm=max",
       {.block = 512, .bits = 8, .euclidean = false, .key = key}}};
  std::vector<DeviceCase> cases;
  for (const Codec& codec : codecs) {
    TRIBUTARY_ASSIGN(const auto bucket, PackedBucket::make(codec.spec, codec.format, update));
    add_cases(codec.spec, "", update.size() * sizeof(float), bucket, cases);
  }
  return cases;
}

}  // namespace tributary::cuda
