// The loops of core/codec/threelc on a device: the codecs with three values, from float32 to a
// complete body and back.
//
// Requirements: all pointers are to memory of the device. Arrays begin at multiples of 16 bytes, as
// allocated memory does; parts may begin at any value. The functions only start the work in the
// queue, and allocate nothing, so that a graph can repeat them. loops.h fills the structures.
#pragma once

#include <cstdint>

#include "core/base/random.h"
#include "core/codec/cuda/device.h"

namespace tributary::TRIBUTARY_DEVICE {

// Values that are sent as float32: `count` from `offset` on, at float `at` of the body.
struct PlainPart {
  std::uint32_t offset;
  std::uint32_t count;
  std::uint32_t at;
};

// Values that share an M, and their tiles.
struct PackedPart {
  std::uint32_t offset;
  std::uint32_t count;
  std::uint32_t bytes;  // packed, which is also the length of a stripe
  std::uint32_t first_tile;
  std::uint32_t tiles;
};

// The unit of a block's work: bytes [begin, end) of the packed form of a part. Tiles are in the
// order of the body. All tiles of a chunk but its last have ternary_tile_bytes().
struct PackedTile {
  std::uint32_t part;
  std::uint32_t chunk;
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t packed_at;  // offset in `packed`
};

// The zero bytes at either end of a tile, and its coded bytes if no run continues into it.
struct TileRuns {
  std::uint32_t lead;
  std::uint32_t tail;
  std::uint32_t coded;
};

struct TernaryFormat {
  bool random_digits;
  bool two_bit;
  bool zero_run;
  float sparsity;
  double clip;
  // Sums of squares are taken to differ by up to this factor from those in the specified order.
  double order_margin;
  StreamKey key;
};

// The relative difference of two sums of the same squares in different order is at most the number
// of additions of a value in either, times 2^-53. The specification has fewer than 2^14.2 (a lane
// of a chunk has 17,920, and a part has at most 2^8 chunks), the tiles fewer than 2^10, and what
// these round down is less than 2^-41.
inline constexpr double kOrderMargin = 0x1p-37;

struct TernaryTables {
  const PlainPart* plain;
  const PackedPart* parts;
  const PackedTile* tiles;
  std::uint32_t plain_count;
  std::uint32_t part_count;
  std::uint32_t tile_count;
  // Offsets in the body, in bytes.
  std::uint32_t units_at;
  std::uint32_t lengths_at;
  std::uint32_t chunks_at;
};

// The numbers that the host needs before it can read the body.
struct TernaryResult {
  std::uint32_t largest;      // magnitude, as bits; the caller initializes it to 0
  std::uint32_t chunk_bytes;  // with zero runs only
};

struct TernaryEncoding {
  TernaryFormat format;
  TernaryTables tables;
  const float* x;
  // Scratch memory: one element per tile, one more in `before`. `packed` is for zero runs only; the
  // tiles in it begin at multiples of 16 bytes and have room up to the next one.
  std::uint32_t* largest;
  double* squares;
  TileRuns* runs;
  std::uint32_t* entering;
  std::uint32_t* before;
  std::uint8_t* packed;
  // Output. A body has room for the bytes without zero runs.
  std::uint8_t* body;
  TernaryResult* result;
};

struct TernaryDecoding {
  TernaryFormat format;
  TernaryTables tables;
  // A body whose sizes and numbers have been checked.
  const std::uint8_t* body;
  std::uint32_t body_bytes;
  // Scratch memory, for zero runs only: one element per coded tile and one more, and the packed
  // bytes. The tiles in it follow each other without gaps, as they do in a body without zero runs.
  std::uint32_t* before;
  std::uint8_t* packed;
  std::uint32_t packed_bytes;
  // Output; `add` adds to it.
  float* x;
  bool add;
};

// Packed bytes of a tile. A chunk is a multiple of it.
std::uint32_t ternary_tile_bytes();

// The number of coded tiles of a body, for `before`.
std::uint32_t coded_tiles(std::uint32_t coded_bytes);

Status encode_ternary(const Queue& queue, const TernaryEncoding& encoding);
Status decode_ternary(const Queue& queue, const TernaryDecoding& decoding);

}  // namespace tributary::TRIBUTARY_DEVICE
