#include "core/codec/sparse/indices/indices.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "core/codec/sparse/indices/rice.h"

namespace tributary::sparse {
namespace {

Status corrupt(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "indices of a sparse payload",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

std::size_t bitmap_bytes(std::size_t values) { return (values + 7) / 8; }

void write_bitmap(const Execution& execution, std::span<const std::uint32_t> indices,
                  std::size_t values, MutableByteSpan out) {
  static_assert(kChunkValues % 8 == 0, "no byte belongs to two chunks");
  for_each_range(execution, indices, values,
                 [&](std::size_t begin, std::size_t end, std::size_t first, std::size_t last) {
                   std::memset(out.data() + begin / 8, 0, bitmap_bytes(end) - begin / 8);
                   for (std::size_t i = first; i < last; ++i) {
                     std::uint8_t& byte = out[indices[i] / 8];
                     byte = static_cast<std::uint8_t>(byte | 1u << (indices[i] % 8));
                   }
                 });
}

Status read_bitmap(const Execution& execution, ByteSpan in, std::size_t count, std::size_t values,
                   IndexVector& indices) {
  if (in.size() != bitmap_bytes(values)) {
    return corrupt(fmt::format("a bitmap of {} bytes", bitmap_bytes(values)),
                   fmt::format("{}", in.size()));
  }
  RawVector<std::uint64_t> words((values + 63) / 64);
  if (!words.empty()) {
    words.back() = 0;
    std::memcpy(words.data(), in.data(), in.size());
    // Bits after the last value must be zero, or an index would lie outside the bucket.
    const std::size_t used = (values - 1) % 64 + 1;
    if (used < 64 && words.back() >> used != 0) return corrupt("zeros behind the bitmap", "bits");
  }
  places_of(execution, words, indices);
  if (indices.size() == count) return {};
  return corrupt(fmt::format("{} places in the bitmap", count), fmt::format("{}", indices.size()));
}

Status read_raw(const Execution& execution, ByteSpan in, std::size_t count, std::size_t values,
                IndexVector& indices) {
  if (in.size() / sizeof(std::uint32_t) != count || in.size() % sizeof(std::uint32_t) != 0) {
    return corrupt(fmt::format("{} indices of 4 bytes", count), fmt::format("{} bytes", in.size()));
  }
  indices.resize(count);
  if (count == 0) return {};
  std::memcpy(indices.data(), in.data(), in.size());
  std::atomic<bool> ascending = true;
  for_each_chunk(execution, count, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   bool good = begin == 0 || indices[begin] > indices[begin - 1];
                   for (std::size_t i = begin + 1; i < end; ++i) {
                     good &= indices[i] > indices[i - 1];
                   }
                   if (!good) ascending = false;
                 });
  if (ascending && indices.back() < values) return {};
  return corrupt(fmt::format("ascending indices below {}", values), "others");
}

// Fills in parallel, because the count is the size of the bucket.
Status read_all(const Execution& execution, ByteSpan in, std::size_t count, std::size_t values,
                IndexVector& indices) {
  if (count != values || !in.empty()) {
    return corrupt(fmt::format("all of {} values, without indices", values),
                   fmt::format("{} values, {} bytes", count, in.size()));
  }
  indices.resize(count);
  for_each_chunk(execution, count, kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   std::iota(indices.begin() + static_cast<std::ptrdiff_t>(begin),
                             indices.begin() + static_cast<std::ptrdiff_t>(end),
                             static_cast<std::uint32_t>(begin));
                 });
  return {};
}

}  // namespace

// Two passes: the first counts the bits of each chunk, so that the second can write all chunks in
// parallel.
void places_of(const Execution& execution, std::span<const std::uint64_t> bitmap,
               IndexVector& indices) {
  constexpr std::size_t kWords = kChunkValues / 64;
  // ends[chunk] is first a count and then, after the partial sum, the end of the chunk's indices.
  std::vector<std::size_t> ends((bitmap.size() + kWords - 1) / kWords);
  for_each_chunk(execution, bitmap.size(), kWords,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   std::size_t count = 0;
                   for (std::size_t w = begin; w < end; ++w) {
                     count += static_cast<std::size_t>(std::popcount(bitmap[w]));
                   }
                   ends[chunk] = count;
                 });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  indices.resize(ends.empty() ? 0 : ends.back());
  for_each_chunk(execution, bitmap.size(), kWords,
                 [&](std::size_t chunk, std::size_t begin, std::size_t end) {
                   std::uint32_t* out = indices.data() + (chunk == 0 ? 0 : ends[chunk - 1]);
                   for (std::size_t w = begin; w < end; ++w) {
                     for (std::uint64_t rest = bitmap[w]; rest != 0; rest &= rest - 1) {
                       *out++ = static_cast<std::uint32_t>(w * 64) +
                                static_cast<std::uint32_t>(std::countr_zero(rest));
                     }
                   }
                 });
}

IndexPlan bitmap_plan(std::size_t values) {
  return {.layout = IndexLayout::bitmap, .bytes = bitmap_bytes(values)};
}

IndexPlan smallest_plan(const Execution& execution, std::span<const std::uint32_t> indices,
                        std::size_t values) {
  if (indices.size() == values) return {.layout = IndexLayout::all, .bytes = 0};
  IndexPlan best = {.layout = IndexLayout::raw, .bytes = indices.size_bytes()};
  if (indices.empty()) return best;
  for (const IndexPlan& plan : {bitmap_plan(values), gaps_plan(execution, indices)}) {
    if (plan.bytes < best.bytes) best = plan;
  }
  // Ties go to the earlier layout in this order, so that the encoding of a set is unique.
  return best;
}

void write_indices(const Execution& execution, const IndexPlan& plan,
                   std::span<const std::uint32_t> indices, std::size_t values,
                   MutableByteSpan out) {
  switch (plan.layout) {
    case IndexLayout::raw:
      if (!indices.empty()) std::memcpy(out.data(), indices.data(), indices.size_bytes());
      break;
    case IndexLayout::bitmap:
      write_bitmap(execution, indices, values, out);
      break;
    case IndexLayout::gaps:
      write_gaps(execution, plan.rice_bits, indices, out);
      break;
    case IndexLayout::all:
      break;
  }
}

Status read_indices(const Execution& execution, std::uint8_t layout, ByteSpan in, std::size_t count,
                    std::size_t values, IndexVector& indices) {
  if (count > values) {
    return corrupt(fmt::format("at most {}, the size of the bucket", values),
                   fmt::format("{}", count));
  }
  switch (IndexLayout{layout}) {
    case IndexLayout::raw:
      return read_raw(execution, in, count, values, indices);
    case IndexLayout::bitmap:
      return read_bitmap(execution, in, count, values, indices);
    case IndexLayout::gaps:
      // A gap takes at least one bit, so memory is bounded by the number of received bytes.
      if (count == 0 || count > in.size() * 8) {
        return corrupt("one index or more, of a bit or more each", fmt::format("{}", count));
      }
      indices.resize(count);
      return read_gaps(execution, in, values, indices);
    // The set is complete, so nothing is read except the count.
    case IndexLayout::all:
      return read_all(execution, in, count, values, indices);
  }
  return corrupt("layout 0 to 3", fmt::format("{}", layout));
}

}  // namespace tributary::sparse
