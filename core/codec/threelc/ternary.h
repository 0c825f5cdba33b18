// Codecs whose every value is M times -1, 0 or 1, with one M per layer, or per block of one. They
// differ in how a digit is chosen and in how digits are written:
//
//   threelc    rounded, M = s · max|x|     quartic, zero runs
//   stoch3     at random, M = max|x|       quartic
//   terngrad   at random, M clipped        two bits
//
// The digits of the last two must be drawn without a bias, the first one's errors are corrected by
// error feedback.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/codec/codec.h"
#include "core/codec/threelc/kernels.h"
#include "core/codec/threelc/layout.h"

namespace tributary::threelc {

struct TernaryOptions {
  bool random_digits = false;
  float sparsity = 1.0f;  // s
  // Values beyond this many root mean squares of their layer count as if they were there; 0: none.
  double clip = 0;
  bool two_bit = false;
  bool zero_run = false;
  std::uint32_t bypass = 0;
  std::uint32_t block = 0;

  LayoutOptions layout() const {
    return {.digits_per_byte = two_bit ? TwoBit::kDigits : Quartic::kDigits,
            .zero_run = zero_run,
            .bypass = bypass,
            .block = block};
  }
  const PackingKernels& packing(const Kernels& kernels) const {
    return two_bit ? kernels.two_bit : kernels.quartic;
  }
};

std::unique_ptr<Codec> make_ternary_codec(std::string spec, const TernaryOptions& options);

// `codec` must outlive the encoder.
std::unique_ptr<Encoder> make_ternary_encoder(const Codec& codec, const TernaryOptions& options);

}  // namespace tributary::threelc
