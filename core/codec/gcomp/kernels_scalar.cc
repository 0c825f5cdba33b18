// The scalar version of the loops, which is the specification.
#include "core/codec/gcomp/kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/codec/gcomp/bit_plane.h"
#include "core/codec/gcomp/one_value.h"

namespace tributary::gcomp {
namespace {

void split(const float* x, std::size_t n, const LevelRule& rule, bool prune, Parts& parts) {
  Splitter splitter(rule, prune, parts);
  for (std::size_t i = 0; i < n; ++i) splitter.add(i, x[i]);
  splitter.finish();
}

// A stream of codes is written from its end. `window` holds the bits that the reader has at the
// same point, and `bits` their number. The reader has 8 to 15 bits before it takes a code, and it
// reads a byte when a code leaves fewer than 8. If a new code in front would make 16 bits or more,
// the upper 8 bits are therefore the byte that the reader reads after that code.
void code_exponents(const Codebook& book, const std::uint8_t* exponents, std::size_t steps,
                    CodedExponents& coded) {
  std::array<std::uint32_t, kStreams> window = {};
  std::array<std::uint32_t, kStreams> bits;
  bits.fill(8);
  coded.byte_count = 0;
  coded.escape_count = 0;
  for (std::size_t step = steps; step-- > 0;) {
    const std::uint8_t* const at = exponents + step * kStreams;
    for (std::size_t turn = kStreams; turn-- > 0;) {
      const std::uint8_t exponent = at[stream_at(turn)];
      const std::uint32_t length = book.bits_or_escape[exponent] & 15u;
      if (bits[turn] + length >= 16) {
        bits[turn] -= 8;
        coded.reversed_bytes[coded.byte_count++] =
            static_cast<std::uint8_t>(window[turn] >> bits[turn]);
        window[turn] &= (1u << bits[turn]) - 1;
      }
      window[turn] = (window[turn] << length) | book.code[exponent];
      bits[turn] += length;
    }
    for (std::size_t i = kStreams; i-- > 0;) {
      if ((book.bits_or_escape[at[i]] & kEscapeFlag) == 0) continue;
      coded.reversed_escapes[coded.escape_count++] = at[i];
    }
  }
  for (std::size_t turn = 0; turn < kStreams; ++turn) {
    coded.states[turn] = static_cast<std::uint16_t>(window[turn] | (1u << bits[turn]));
  }
}

// A state is the window with a one above its top bit.
bool decode_exponents(const Codebook& book, const ExponentStream& in, std::size_t steps,
                      std::uint8_t* exponents) {
  std::array<std::uint32_t, kStreams> window;
  std::array<std::uint32_t, kStreams> bits;
  for (std::size_t turn = 0; turn < kStreams; ++turn) {
    std::uint16_t state;
    std::memcpy(&state, in.states + turn * sizeof(state), sizeof(state));
    // A valid window has at least 8 bits, so the one above it is bit 8 or higher.
    if (state < 0x100) return false;
    bits[turn] = static_cast<std::uint32_t>(std::bit_width(state)) - 1;
    window[turn] = state & ((1u << bits[turn]) - 1);
  }
  std::size_t position = 0;
  for (std::size_t step = 0; step < steps; ++step, exponents += kStreams) {
    for (std::size_t turn = 0; turn < kStreams; ++turn) {
      const std::uint32_t next = window[turn] & 0xffu;
      const std::uint32_t length = book.next_bits[next];
      exponents[stream_at(turn)] = book.next_exponent[next];
      window[turn] >>= length;
      bits[turn] -= length;
      if (bits[turn] >= 8) continue;
      if (position == in.byte_count) return false;
      window[turn] |= static_cast<std::uint32_t>(in.bytes[position++]) << bits[turn];
      bits[turn] += 8;
    }
  }
  // A valid stream ends in the state with which its encoder started.
  const bool ended = std::ranges::all_of(bits, [](std::uint32_t left) { return left == 8; }) &&
                     std::ranges::all_of(window, [](std::uint32_t rest) { return rest == 0; });
  return ended && position == in.byte_count;
}

// The mark is an exponent without a code, so it can only come from the escape code.
bool restore_escapes(std::uint8_t mark, const std::uint8_t* escapes, std::size_t count,
                     std::uint8_t* exponents, std::size_t n) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (exponents[i] != mark) continue;
    if (used == count) return false;
    exponents[i] = escapes[used++];
  }
  return used == count;
}

void pack(const std::uint32_t* fields, std::size_t count, unsigned bits, std::uint8_t* words) {
  std::memset(words, 0, packed_words(count, bits) * sizeof(std::uint32_t));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = i / kColumns * bits;
    const std::uint64_t field = std::uint64_t{fields[i]} << (start % 32);
    for (std::size_t part = 0; part < 2; ++part) {
      const auto bits_here = static_cast<std::uint32_t>(field >> (32 * part));
      if (bits_here == 0) continue;
      const std::size_t index = (start / 32 + part) * kColumns + i % kColumns;
      const std::uint32_t word = load_word(words, index) | bits_here;
      std::memcpy(words + index * sizeof(word), &word, sizeof(word));
    }
  }
}

void unpack(const std::uint8_t* words, std::size_t count, unsigned bits, unsigned shift,
            std::uint32_t* fields) {
  for (std::size_t i = 0; i < count; ++i) fields[i] = field_at(words, i, bits) << shift;
}

// Pruned values have exponent 0 and no fraction.
std::size_t find_sent(const std::uint8_t* exponents, std::size_t n, bool prune, Masks& masks) {
  std::fill_n(masks.sent.begin(), (n + kBlock - 1) / kBlock, 0);
  std::size_t sent = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (prune && exponents[i] == 0) continue;
    masks.sent[i / kBlock] |= std::uint64_t{1} << (i % kBlock);
    ++sent;
  }
  return sent;
}

void find_levels(const std::uint8_t* low, const std::uint8_t* high, std::size_t n, Masks& masks,
                 std::array<std::size_t, kLevels>& counts) {
  PlaneReader low_bits(low);
  PlaneReader high_bits(high);
  counts = {};
  for (std::size_t block = 0; block * kBlock < n; ++block) {
    const std::uint64_t sent = masks.sent[block];
    const auto count = static_cast<unsigned>(std::popcount(sent));
    const std::uint64_t l = scatter_bits(low_bits.take(count), sent);
    const std::uint64_t h = scatter_bits(high_bits.take(count), sent);
    masks.level_low[block] = l;
    masks.level_high[block] = h;
    counts[0] += static_cast<std::size_t>(std::popcount(sent & ~l & ~h));
    counts[1] += static_cast<std::size_t>(std::popcount(l & ~h));
    counts[2] += static_cast<std::size_t>(std::popcount(h & ~l));
    counts[3] += static_cast<std::size_t>(std::popcount(h & l));
  }
}

void join(const std::uint8_t* exponents, const Masks& masks,
          const std::array<const std::uint32_t*, kLevels>& fractions, std::size_t n, float* x) {
  Joiner joiner(exponents, masks, fractions);
  for (std::size_t i = 0; i < n; ++i) x[i] = joiner.at(i);
}

void join_all(const std::uint8_t* exponents, const std::uint8_t* words, unsigned level,
              std::size_t n, float* x) {
  for (std::size_t i = 0; i < n; ++i) x[i] = joined_at(exponents, words, level, i);
}

}  // namespace

const Kernels& scalar_kernels() {
  static constexpr Kernels kKernels = {
      .split = split,
      .code_exponents = code_exponents,
      .decode_exponents = decode_exponents,
      .restore_escapes = restore_escapes,
      .pack = pack,
      .unpack = unpack,
      .find_sent = find_sent,
      .find_levels = find_levels,
      .join = join,
      .join_all = join_all,
  };
  return kKernels;
}

}  // namespace tributary::gcomp
