// Where everything of a bucket is in a payload's body. Encoder and decoder derive it from the
// bucket's layers, so that the body says no size but those of coded chunks:
//
//   f32  values of the layers that travel as they are, one layer after the other
//   f32  M of every packed part: a layer, or a block of one
//   u16  coded bytes of every chunk        (only with zero-run encoding)
//        the chunks
//
// A packed part is cut into chunks of kChunkBytes packed bytes, in which zero runs are coded
// independently, so that threads can share the work. The cut costs 2 bytes of length and at most 1
// byte for a run cut in two; a chunk of zeros alone takes 4096 bytes, so that is below 0.1 %
// always.
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

struct Part {
  std::size_t offset = 0;  // within the bucket
  std::size_t count = 0;
};

struct Chunk {
  std::size_t part;    // among the packed ones
  PackedRange range;   // within the part
  std::size_t offset;  // of its packed bytes, if nothing were coded

  std::size_t bytes() const { return range.end - range.begin; }
};

struct LayoutOptions {
  std::size_t digits_per_byte = Quartic::kDigits;
  bool zero_run = false;
  std::uint32_t bypass = 0;  // layers of fewer values than this are not packed
  std::uint32_t block = 0;   // values of a layer that share an M; 0: all of them
};

class Layout {
 public:
  // Refuses layers that are not the bucket's, in order and without gaps.
  static Result<Layout> make(const RoundContext& round, std::size_t values,
                             const LayoutOptions& options);

  std::vector<Part> plain;
  std::vector<Part> packed;
  std::vector<Chunk> chunks;
  std::size_t plain_values = 0;
  std::size_t packed_bytes = 0;

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
