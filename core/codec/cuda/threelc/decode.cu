#include "core/codec/cuda/block.h"
#include "core/codec/cuda/scan.h"
#include "core/codec/cuda/threelc/threelc.h"
#include "core/codec/cuda/threelc/tiles.h"
#include "core/codec/threelc/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using threelc::kFirstRunByte;
using threelc::Quartic;
using threelc::TwoBit;

__global__ void __launch_bounds__(kThreads) scatter_plain(TernaryDecoding d) {
  const auto* const in = reinterpret_cast<const float*>(d.body);
  for (std::uint32_t i = blockIdx.x; i < d.tables.plain_count; i += gridDim.x) {
    const PlainPart part = d.tables.plain[i];
    for (std::uint32_t k = threadIdx.x; k < part.count; k += kThreads) {
      float* const out = d.x + part.offset + k;
      *out = d.add ? *out + in[part.at + k] : in[part.at + k];
    }
  }
}

// Counts the packed bytes of every coded tile, and fills the packed bytes with zero bytes. The
// checked chunks of a body are one stream: each gives as many bytes as it has.
__global__ void __launch_bounds__(kThreads) count_coded(TernaryDecoding d) {
  const std::uint8_t* const in = d.body + d.tables.chunks_at;
  const std::uint32_t n = d.body_bytes - d.tables.chunks_at;
  const std::uint32_t tiles = n / kTileBytes + (n % kTileBytes != 0 ? 1 : 0);
  for (std::uint32_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const std::uint32_t begin = at * kTileBytes;
    const std::uint32_t size = min(kTileBytes, n - begin);
    std::uint32_t count = 0;
    for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) {
      count += static_cast<std::uint32_t>(threelc::run_length(in[begin + i]));
    }
    count = block_scan(count).total;
    if (threadIdx.x == 0) d.before[at] = count;
  }
  for (std::uint32_t i = (blockIdx.x * kThreads + threadIdx.x) * 4; i < d.packed_bytes;
       i += gridDim.x * kThreads * 4) {
    store_up_to_four(d.packed + i, min(4, d.packed_bytes - i), kZeroWord);
  }
}

// Writes the bytes that are not in runs.
__global__ void __launch_bounds__(kThreads) expand_coded(TernaryDecoding d) {
  __shared__ std::uint8_t coded[kTileBytes];
  const std::uint8_t* const in = d.body + d.tables.chunks_at;
  const std::uint32_t n = d.body_bytes - d.tables.chunks_at;
  const std::uint32_t tiles = n / kTileBytes + (n % kTileBytes != 0 ? 1 : 0);
  for (std::uint32_t at = blockIdx.x; at < tiles; at += gridDim.x) {
    const std::uint32_t begin = at * kTileBytes;
    const std::uint32_t size = min(kTileBytes, n - begin);
    for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) coded[i] = in[begin + i];
    __syncthreads();
    const std::uint32_t first = threadIdx.x * kThreadBytes;
    const std::uint32_t end = min(size, first + kThreadBytes);
    std::uint32_t count = 0;
    for (std::uint32_t i = first; i < end; ++i) {
      count += static_cast<std::uint32_t>(threelc::run_length(coded[i]));
    }
    std::uint32_t to = d.before[at] + block_scan(count).before;
    for (std::uint32_t i = first; i < end; ++i) {
      if (coded[i] < kFirstRunByte) d.packed[to] = coded[i];
      to += static_cast<std::uint32_t>(threelc::run_length(coded[i]));
    }
    __syncthreads();  // before the next use of `coded`
  }
}

// Writes up to four values, given as their negatives, or adds them to what is there.
template <bool kAdd>
__device__ void store_values(float* x, std::uint32_t i, std::uint32_t valid, float4 negated) {
  const auto put = [](float* at, float value) { *at = (kAdd ? *at : 0.0f) - value; };
  if (valid == kPerThread && i % kPerThread == 0) {
    auto* const at = reinterpret_cast<float4*>(x + i);
    float4 v = kAdd ? *at : float4{};
    v.x -= negated.x;
    v.y -= negated.y;
    v.z -= negated.z;
    v.w -= negated.w;
    *at = v;
    return;
  }
  if (valid > 0) put(x + i, negated.x);
  if (valid > 1) put(x + i + 1, negated.y);
  if (valid > 2) put(x + i + 2, negated.z);
  if (valid > 3) put(x + i + 3, negated.w);
}

__device__ std::uint32_t load_bytes(const std::uint8_t* in, std::uint32_t bytes) {
  if (bytes == 4 && reinterpret_cast<std::uintptr_t>(in) % 4 == 0) {
    return *reinterpret_cast<const std::uint32_t*>(in);
  }
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) {
    if (i < bytes) word |= std::uint32_t{in[i]} << (8 * i);
  }
  return word;
}

template <class P, bool kAdd>
__global__ void __launch_bounds__(kThreads) unpack_tiles(TernaryDecoding d) {
  const auto* const units = reinterpret_cast<const float*>(d.body + d.tables.units_at);
  const std::uint8_t* const packed = d.format.zero_run ? d.packed : d.body + d.tables.chunks_at;
  for (std::uint32_t at = blockIdx.x; at < d.tables.tile_count; at += gridDim.x) {
    const PackedTile tile = d.tables.tiles[at];
    const PackedPart part = d.tables.parts[tile.part];
    const float unit = units[tile.part];
    const std::uint32_t size = tile.end - tile.begin;
    for (std::uint32_t i = threadIdx.x * 4; i < size; i += kThreads * 4) {
      const std::uint32_t bytes = min(4, size - i);
      const std::uint32_t word = load_bytes(packed + tile.packed_at + i, bytes);
      std::uint32_t rest[4];
      for (unsigned k = 0; k < 4; ++k) rest[k] = byte_of(word, k);
      const auto negated = [&](unsigned k) {
        const auto digit = static_cast<int>(rest[k] % kBaseOf<P>) - 1;
        rest[k] /= kBaseOf<P>;
        return threelc::negated_value(digit, unit);
      };
      // The last stripe has the lowest place.
      for (unsigned j = P::kDigits; j-- > 0;) {
        const std::uint32_t index = j * part.bytes + tile.begin + i;
        const float4 values = make_float4(negated(0), negated(1), negated(2), negated(3));
        store_values<kAdd>(d.x, part.offset + index, values_in(bytes, part.count, index), values);
      }
    }
  }
}

template <class P>
Status unpack(const Queue& queue, const TernaryDecoding& d) {
  return launch(d.add ? unpack_tiles<P, true> : unpack_tiles<P, false>,
                shape_for(queue, "unpack_tiles", d.tables.tile_count, 1), d);
}

}  // namespace

std::uint32_t coded_tiles(std::uint32_t coded_bytes) {
  return coded_bytes / kTileBytes + (coded_bytes % kTileBytes != 0 ? 1 : 0);
}

Status decode_ternary(const Queue& queue, const TernaryDecoding& d) {
  if (d.tables.plain_count > 0) {
    TRIBUTARY_TRY(
        launch(scatter_plain, shape_for(queue, "scatter_plain", d.tables.plain_count, 1), d));
  }
  if (d.tables.tile_count == 0) return {};
  if (d.format.zero_run) {
    const std::uint32_t tiles = coded_tiles(d.body_bytes - d.tables.chunks_at);
    TRIBUTARY_TRY(launch(count_coded, shape_for(queue, "count_coded", d.tables.tile_count, 1), d));
    TRIBUTARY_TRY(exclusive_scan(queue, d.before, tiles, d.before));
    TRIBUTARY_TRY(launch(expand_coded, shape_for(queue, "expand_coded", tiles, 1), d));
  }
  return d.format.two_bit ? unpack<TwoBit>(queue, d) : unpack<Quartic>(queue, d);
}

}  // namespace tributary::TRIBUTARY_DEVICE
