#include "core/codec/cuda/gpu/signs_cases.h"

#include <cstring>
#include <memory>
#include <string>

#include "core/codec/cuda/signs/signs.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"
#include "core/codec/signs/sign_bits.h"

namespace tributary::cuda {
namespace {

// A codec of the benchmark; `block` is 0 if it sends no magnitudes.
struct SignCodec {
  std::string spec;
  WorthRule rule;
  std::uint32_t block;
};

// A bucket on the device, and what the scalar specification makes of it.
class SignBucket {
 public:
  static Result<std::shared_ptr<SignBucket>> make(const SignCodec& codec,
                                                  const FloatVector& update) {
    TRIBUTARY_ASSIGN(Workspace space, Workspaces().take());
    auto bucket = std::shared_ptr<SignBucket>(new SignBucket(codec, update, std::move(space)));
    TRIBUTARY_TRY(bucket->specify(update));
    TRIBUTARY_TRY(bucket->upload(update));
    return bucket;
  }

  Status encode(const Queue& queue) const {
    return codec_.block == 0 ? pack_signs(queue, x_, n_, bits_, largest_)
                             : pack_scaled_signs(queue, codec_.rule, codec_.block, x_, n_, worths_,
                                                 bits_, largest_);
  }
  Status decode(const Queue& queue) const {
    return codec_.block == 0 ? unpack_signs(queue, bits_, 1.0f, n_, back_)
                             : unpack_scaled_signs(queue, codec_.block, worths_, bits_, n_, back_);
  }

  Status check_encoding(const Queue& queue) const {
    Bytes got(specified_.body.size());
    const std::size_t worth_bytes = blocks() * sizeof(Worth);
    TRIBUTARY_TRY(copy_to_host(queue, worths_, worth_bytes, got.data()));
    TRIBUTARY_TRY(copy_to_host(queue, bits_, got.size() - worth_bytes, got.data() + worth_bytes));
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
  SignBucket(const SignCodec& codec, const FloatVector& update, Workspace space)
      : codec_(codec), n_(static_cast<std::uint32_t>(update.size())), space_(std::move(space)) {}

  std::size_t blocks() const {
    return codec_.block == 0 ? 0 : (n_ + codec_.block - 1) / codec_.block;
  }

  Status specify(const FloatVector& update) {
    TRIBUTARY_ASSIGN(const auto codec, make_codec(codec_.spec));
    TRIBUTARY_ASSIGN(specified_, Specified::of(*codec, update));
    return {};
  }

  Status upload(const FloatVector& update) {
    const std::vector<std::uint32_t> none(1, 0);
    TRIBUTARY_ASSIGN(x_, space_.upload(std::span(update)));
    TRIBUTARY_ASSIGN(worths_, space_.array<Worth>(blocks()));
    TRIBUTARY_ASSIGN(bits_, space_.array<std::uint8_t>(signs::sign_bytes(n_) + 16));
    TRIBUTARY_ASSIGN(back_, space_.array<float>(n_));
    TRIBUTARY_ASSIGN(largest_, space_.upload(std::span(none)));
    // A decoder may be measured before the encoder.
    const std::size_t worth_bytes = blocks() * sizeof(Worth);
    TRIBUTARY_TRY(copy_to_device(space_.queue(), specified_.body.data(), worth_bytes, worths_));
    TRIBUTARY_TRY(copy_to_device(space_.queue(), specified_.body.data() + worth_bytes,
                                 specified_.body.size() - worth_bytes, bits_));
    return space_.wait();
  }

  const SignCodec codec_;
  const std::uint32_t n_;
  Workspace space_;
  const float* x_ = nullptr;
  Worth* worths_ = nullptr;
  std::uint8_t* bits_ = nullptr;
  float* back_ = nullptr;
  std::uint32_t* largest_ = nullptr;
  Specified specified_;
};

}  // namespace

Result<std::vector<DeviceCase>> signs_cases(const FloatVector& update) {
  const SignCodec codecs[] = {{"signsgd", WorthRule::mean_magnitude, 0},
                              {"ef_signsgd", WorthRule::mean_magnitude, 4096},
                              {"onebit", WorthRule::means_by_sign, 4096}};
  std::vector<DeviceCase> cases;
  for (const SignCodec& codec : codecs) {
    TRIBUTARY_ASSIGN(const auto bucket, SignBucket::make(codec, update));
    add_cases(codec.spec, "", update.size() * sizeof(float), bucket, cases);
  }
  return cases;
}

}  // namespace tributary::cuda
