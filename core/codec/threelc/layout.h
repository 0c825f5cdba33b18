// The positions of all parts of a bucket in a payload's body. Encoder and decoder derive the layout
// from the bucket's layers, so the body contains no sizes except those of coded chunks:
//
//   f32  values of the layers that are sent unpacked, one layer after the other
//   f32  M of every packed part: a layer, or a block of one
//   u16  coded bytes of every chunk        (only with zero-run encoding)
//        the chunks
//
// A packed part is divided into chunks of kChunkBytes packed bytes. Zero runs are coded within a
// chunk, so that threads can share the work. A division costs 2 bytes for the length, and at most 1
// byte for a run that it divides. A chunk has at least 4096 coded bytes, so this is less than 0.1
// %.
//
// A layout is a value that threads may share after make() has returned it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/threelc/packing.h"
#include "core/codec/threelc/zero_run.h"

namespace tributary::threelc {

constexpr std::size_t kChunkBytes = 4096 * kRunMax;
static_assert(kChunkBytes <= UINT16_MAX, "a chunk's coded length is a u16");

// A range of values that is packed or sent unpacked as a whole.
struct Part {
  std::size_t offset = 0;  // index of its first value in the bucket
  std::size_t count = 0;
};

// The unit of parallel work.
struct Chunk {
  std::size_t part;    // index among the packed parts
  PackedRange range;   // bytes within the part
  std::size_t offset;  // of its packed bytes, without zero-run encoding

  std::size_t bytes() const { return range.end - range.begin; }
};

struct LayoutOptions {
  std::size_t digits_per_byte = Quartic::kDigits;
  bool zero_run = false;
  std::uint32_t bypass = 0;  // layers with fewer values are not packed
  std::uint32_t block = 0;   // values of a layer that share an M; 0: all of them
};

class Layout {
 public:
  // Makes the layout of a bucket. Returns invalid_argument unless the layers cover the bucket in
  // order and without gaps.
  static Result<Layout> make(const RoundContext& round, std::size_t values,
                             const LayoutOptions& options);

  std::vector<Part> plain;
  std::vector<Part> packed;
  std::vector<Chunk> chunks;
  std::size_t plain_values = 0;
  std::size_t packed_bytes = 0;

  // Offsets in the body, in bytes.
  std::size_t units_at() const { return plain_values * sizeof(float); }
  std::size_t lengths_at() const { return units_at() + packed.size() * sizeof(float); }
  std::size_t chunks_at() const {
    return lengths_at() + (zero_run_ ? chunks.size() * sizeof(std::uint16_t) : 0);
  }

 private:
  void add_layer(const Part& layer, const LayoutOptions& options);
  void add_packed(const Part& part, std::size_t digits_per_byte);

  bool zero_run_ = false;
};

}  // namespace tributary::threelc
