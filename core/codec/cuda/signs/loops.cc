#include "core/codec/cuda/signs/loops.h"

#include "core/codec/cuda/signs/signs.h"
#include "core/codec/signs/sign_bits.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

class SignLoops final : public signs::DeviceLoops {
 public:
  explicit SignLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Result<std::uint32_t> encode_signs(std::span<const float> values, std::uint8_t* bits) override {
    return encode(
        values, 0, nullptr, bits,
        [](const Queue& queue, const float* x, std::uint32_t n, Worth*, std::uint8_t* made,
           std::uint32_t* largest) { return pack_signs(queue, x, n, made, largest); });
  }

  Result<std::uint32_t> encode_scaled_signs(WorthRule rule, std::uint32_t block,
                                            std::span<const float> values, Worth* worths,
                                            std::uint8_t* bits) override {
    return encode(values, blocks_of(block, values.size()), worths, bits,
                  [rule, block](const Queue& queue, const float* x, std::uint32_t n, Worth* found,
                                std::uint8_t* made, std::uint32_t* largest) {
                    return pack_scaled_signs(queue, rule, block, x, n, found, made, largest);
                  });
  }

  Status decode_signs(const std::uint8_t* bits, float step, std::span<float> values) override {
    return decode(std::span(bits, signs::sign_bytes(values.size())), values,
                  [step](const Queue& queue, const std::uint8_t* in, std::uint32_t n, float* x) {
                    return unpack_signs(queue, in, step, n, x);
                  });
  }

  Status decode_scaled_signs(std::uint32_t block, const Worth* worths, const std::uint8_t* bits,
                             std::span<float> values) override {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const given,
                     space.upload(std::span(worths, blocks_of(block, values.size()))));
    TRIBUTARY_ASSIGN(const auto* const in,
                     space.upload(std::span(bits, signs::sign_bytes(values.size()))));
    TRIBUTARY_ASSIGN(auto* const x, space.target(values));
    TRIBUTARY_TRY(unpack_scaled_signs(space.queue(), block, given, in, count(values.size()), x));
    TRIBUTARY_TRY(space.download(x, values));
    return space.wait();
  }

  Status decode_votes(std::span<const std::uint8_t> counts, std::uint32_t voters, float step,
                      float* values) override {
    return decode_counts(count_votes8, counts, voters, step, values);
  }
  Status decode_votes(std::span<const std::uint16_t> counts, std::uint32_t voters, float step,
                      float* values) override {
    return decode_counts(count_votes16, counts, voters, step, values);
  }
  Status decode_votes(std::span<const std::uint32_t> counts, std::uint32_t voters, float step,
                      float* values) override {
    return decode_counts(count_votes32, counts, voters, step, values);
  }

 private:
  static std::uint32_t count(std::size_t values) { return static_cast<std::uint32_t>(values); }
  static std::size_t blocks_of(std::uint32_t block, std::size_t values) {
    return (values + block - 1) / block;
  }
  // Kernels write whole groups of sign bits.
  static std::size_t padded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

  template <typename Start>
  Result<std::uint32_t> encode(std::span<const float> values, std::size_t blocks, Worth* worths,
                               std::uint8_t* bits, const Start& start) {
    constexpr std::uint32_t kNone[] = {0};
    const std::size_t bytes = signs::sign_bytes(values.size());
    std::uint32_t largest = 0;
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(auto* const found, space.array<Worth>(blocks));
    TRIBUTARY_ASSIGN(auto* const made, space.array<std::uint8_t>(padded(bytes)));
    TRIBUTARY_ASSIGN(auto* const seen, space.upload(std::span<const std::uint32_t>(kNone)));
    TRIBUTARY_TRY(start(space.queue(), x, count(values.size()), found, made, seen));
    TRIBUTARY_TRY(space.download(seen, std::span(&largest, 1)));
    TRIBUTARY_TRY(space.download(found, std::span(worths, blocks)));
    TRIBUTARY_TRY(space.download(made, std::span(bits, bytes)));
    TRIBUTARY_TRY(space.wait());
    return largest;
  }

  template <typename In, typename Start>
  Status decode(std::span<const In> in, std::span<float> values, const Start& start) {
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const given, space.upload(in));
    TRIBUTARY_ASSIGN(auto* const x, space.target(values));
    TRIBUTARY_TRY(start(space.queue(), given, count(values.size()), x));
    TRIBUTARY_TRY(space.download(x, values));
    return space.wait();
  }

  template <typename Count>
  Status decode_counts(Status (*loop)(const Queue&, const Count*, std::uint32_t, std::uint32_t,
                                      float, float*),
                       std::span<const Count> counts, std::uint32_t voters, float step,
                       float* values) {
    return decode(counts, std::span(values, counts.size()),
                  [=](const Queue& queue, const Count* in, std::uint32_t n, float* x) {
                    return loop(queue, in, n, voters, step, x);
                  });
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<signs::DeviceLoops> make_sign_loops(Workspaces& workspaces) {
  return std::make_unique<SignLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
