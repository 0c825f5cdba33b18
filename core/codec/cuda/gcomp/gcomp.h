// The loops of core/codec/gcomp on a device. They produce the same bytes as its Kernels.
//
// Requirements: all pointers are to memory of the device; the caller makes the arrays with the
// sizes that their comments state. x and the arrays of the rule are aligned to 16 bytes, the body
// to 4. The functions only start the work in the queue; Queue::wait() returns its errors.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/host_device.h"
#include "core/codec/cuda/device.h"
#include "core/codec/gcomp/codebook.h"
#include "core/codec/gcomp/kernels.h"

namespace tributary::TRIBUTARY_DEVICE {

// A segment is the part of a chunk that one warp measures: 16 steps of the exponent coder. All
// segments but the last one of a bucket have at least 16 bits of codes in each stream.
inline constexpr std::uint32_t kGCompSegment = 16 * gcomp::kStreams;
inline constexpr std::uint32_t kGCompChunk = kChunkValues;
inline constexpr std::uint32_t kGCompChunkSegments = kGCompChunk / kGCompSegment;

constexpr std::uint32_t gcomp_segments(std::uint32_t n) {
  return n / kGCompSegment + (n % kGCompSegment != 0 ? 1 : 0);
}
constexpr std::uint32_t gcomp_chunks(std::uint32_t n) {
  return n / kGCompChunk + (n % kGCompChunk != 0 ? 1 : 0);
}

// A codebook as the encoding kernels read it.
struct CodeTable {
  // By exponent: the code in bits 0 to 7, its length in bits 8 to 11, and bit 20 for the escape.
  std::uint32_t entries[gcomp::kExponents];
  std::uint32_t padding;
};
CodeTable code_table(const gcomp::Codebook& book);

// A codebook as the decoding kernels read it.
struct DecodeTable {
  std::uint16_t entries[gcomp::kExponents];  // by the next 8 bits: exponent, and length << 8
  std::uint32_t escape_mark;
};
DecodeTable decode_table(const gcomp::Codebook& book);

// The work of a new codebook.
struct BookMaking {
  std::uint32_t* rows;       // kRows times kExponents
  std::uint32_t* histogram;  // kExponents
  std::uint32_t* ordered;    // kExponents + 1: by descending frequency; then their number
  std::uint32_t* costs;      // kExponents
  CodeTable* table;          // result
  std::uint8_t* bytes;       // result: kCodebookBytes

  static constexpr std::uint32_t kRows = 64;
};

// Counts the exponents of a sample of the bucket, as the specification's histogram does.
Status count_exponents(const Queue& queue, const float* x, std::uint32_t n, const BookMaking& book);
// Makes the best codebook for the counted histogram, with version 0.
Status make_code_table(const Queue& queue, unsigned bits_max, const BookMaking& book);

// The counts of a segment.
struct SegmentCounts {
  std::uint32_t sent01;  // values of level 0, and those of level 1 << 16
  std::uint32_t sent23;
  std::uint32_t escapes;
  std::uint32_t pruned_bits;  // not 0: pruning changes a value
};

// Where a segment's parts begin among those of its chunk, and their numbers.
struct SegmentPlan {
  std::uint32_t bytes;
  std::uint32_t escapes;
  std::uint32_t escape_count;
  std::uint32_t fields[gcomp::kLevels];
  std::uint32_t counts[gcomp::kLevels];
};

struct ChunkPlan {
  std::uint32_t begin;  // in the body
  std::uint32_t coded;
  std::uint32_t pruned;
  std::uint32_t level;  // kLevels: they differ
  std::uint32_t coded_bytes;
  std::uint32_t escapes;
  std::uint32_t sent;
  std::uint32_t counts[gcomp::kLevels];
  std::uint32_t exponents_end;  // in the chunk, before zeros up to a multiple of 4
  std::uint16_t states[gcomp::kStreams];
};

struct ChunkTotals {
  std::uint32_t bytes;
  std::uint32_t escapes;
  std::uint32_t misfit;
  std::uint32_t bits_dropped;
};

// An encoding of chunks.
struct GCompEncoding {
  const float* x = nullptr;
  std::uint32_t n = 0;
  gcomp::LevelRule rule = {};  // with pointers to the device
  bool exact = false;
  bool coded = false;
  bool chunk_levels = false;
  std::uint32_t level = 0;
  const CodeTable* table = nullptr;  // not read unless `coded`

  std::uint32_t* states = nullptr;  // kStreams for each segment
  SegmentCounts* counts = nullptr;  // one for each segment
  std::uint32_t* levels = nullptr;  // kStreams for each segment, if values have levels of their own
  std::uint32_t* chunk_level = nullptr;  // one for each chunk, if `chunk_levels`
  SegmentPlan* segments = nullptr;       // one for each segment
  ChunkPlan* chunks = nullptr;           // one for each chunk

  ChunkTotals* totals = nullptr;  // result: one for each chunk
  std::uint8_t* body = nullptr;   // result: the table of chunks and the chunks

  TRIBUTARY_HD bool values_have_levels() const {
    return rule.kind != gcomp::LevelRule::Kind::fixed && !chunk_levels;
  }
};

Status encode_chunks(const Queue& queue, const GCompEncoding& encoding);

// The findings of a decoding's first kernel about a chunk.
struct DecodePlan {
  std::uint32_t sound;
  std::uint32_t level;
  std::uint32_t pruned;
  std::uint32_t low_row;  // offset in the body
  std::uint32_t high_row;
  std::uint32_t fields[gcomp::kLevels];  // offsets in the body
  std::uint32_t sent_before[kGCompChunk / 4096 + 1];
  std::uint32_t fields_before[kGCompChunk / 4096][gcomp::kLevels];
};

struct GCompDecoding {
  const std::uint8_t* body = nullptr;
  const std::uint32_t* begins = nullptr;  // of each chunk, and the end
  const DecodeTable* table = nullptr;     // null: exponents are raw
  std::uint32_t n = 0;

  std::uint8_t* exponents = nullptr;  // kGCompChunk for each chunk
  DecodePlan* plans = nullptr;        // one for each chunk

  float* x = nullptr;                // result
  std::uint32_t* largest = nullptr;  // result, raised to the bits of the largest magnitude
  std::uint32_t* faults = nullptr;   // result, raised to 1 if a chunk has a fault
};

Status decode_chunks(const Queue& queue, const GCompDecoding& decoding);

}  // namespace tributary::TRIBUTARY_DEVICE
