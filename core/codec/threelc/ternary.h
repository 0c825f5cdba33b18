// Codecs whose values are M times -1, 0 or 1, with one M per layer or per block of a layer. They
// differ in the choice of the digits and in their packing:
//
//   threelc    rounded, M clipped          quartic, zero runs
//   stoch3     at random, M = max|x|       quartic
//   terngrad   at random, M clipped        two bits
//
// Error feedback corrects the errors of threelc. The other two need unbiased digits instead.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/threelc/kernels.h"
#include "core/codec/threelc/layout.h"

namespace tributary::threelc {

// The parameters of all three codecs; each family sets the ones that it has.
struct TernaryOptions {
  bool random_digits = false;
  float sparsity = 1.0f;  // s
  // M is at most `sparsity` times this many root mean squares of the values that share it; larger
  // values count as M. 0: no limit. Only the encoder reads it: a payload states its M.
  double clip = 0;
  bool two_bit = false;
  bool zero_run = false;
  std::uint32_t bypass = 0;  // layers with fewer values are sent as float32
  std::uint32_t block = 0;   // values that share an M; 0: the whole layer

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

// The loops over whole buckets, as a device runs them. The bytes are those of the scalar
// specification. Spans are to host memory. Thread-safe.
class DeviceLoops {
 public:
  struct Encoded {
    bool finite = false;    // whether all values are; if not, the body is undefined
    std::size_t bytes = 0;  // of the body
  };

  virtual ~DeviceLoops() = default;

  // Writes a body, which has room for the bytes without zero runs. `draws` is used for random
  // digits.
  virtual Result<Encoded> encode(const TernaryOptions& options, const Layout& layout,
                                 StreamKey draws, std::span<const float> values,
                                 MutableByteSpan body) = 0;
  // Decodes a body that has been checked; `add` adds its values to `sum`.
  virtual Status decode(const TernaryOptions& options, const Layout& layout, ByteSpan body,
                        bool add, std::span<float> sum) = 0;
};

// Makes a codec. `spec` must be its canonical spec string.
std::unique_ptr<Codec> make_ternary_codec(std::string spec, const TernaryOptions& options);

// Makes an encoder; `codec` must outlive it.
std::unique_ptr<Encoder> make_ternary_encoder(const Codec& codec, const TernaryOptions& options);

}  // namespace tributary::threelc
