// The exponent coder in SIMD. AVX-512 with VBMI and VBMI2 can look up bytes in a table of 256
// entries within registers and spread bytes over lanes by a mask. There, 32 streams share a vector
// of 16-bit windows. Other targets use plain code.
//
// Include it in kernels_simd.cc only; Highway compiles it once per instruction set. The bytes are
// those of kernels_scalar.cc, which explains the format.
#if defined(TRIBUTARY_GCOMP_EXPONENTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_GCOMP_EXPONENTS_INL_H
#undef TRIBUTARY_GCOMP_EXPONENTS_INL_H
#else
#define TRIBUTARY_GCOMP_EXPONENTS_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/codec/gcomp/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::gcomp::HWY_NAMESPACE {
namespace {

// Prefetches the payload one chunk ahead of the current position. Payloads are read from start to
// end, and the checksum of a chunk is computed before it is decoded.
HWY_INLINE void prefetch_payload(const std::uint8_t* from) {
  constexpr std::size_t kAheadBytes = 256 * 1024;
  hwy::Prefetch(from + kAheadBytes);
}

// One 16-bit state per stream, in the order of stream_at().
using StreamStates = std::array<std::uint16_t, kStreams>;

// Output positions of the encoder, which writes from the last value to the first.
struct ReversedWriter {
  std::uint8_t* bytes;
  std::uint8_t* escapes;
};

#if HWY_TARGET == HWY_AVX3_DL

// The streams of half a step, which has 64 values: first those of the even values, then those of
// the odd values.
constexpr std::size_t kHalf = 64;
constexpr std::size_t kQuarter = 32;

// Returns table[index] for 64 indexes.
__m512i look_up(const std::uint8_t* table, __m512i index) {
  const auto part = [table](std::size_t i) { return _mm512_load_si512(table + 64 * i); };
  const __m512i below_128 = _mm512_permutex2var_epi8(part(0), index, part(1));
  const __m512i from_128 = _mm512_permutex2var_epi8(part(2), index, part(3));
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index), below_128, from_128);
}

// One 16-bit lane per stream: the bits that the stream has read ahead, and their number.
struct Streams {
  __m512i window;
  __m512i bits;
};

__m512i low_bytes(__m512i pairs) { return _mm512_and_si512(pairs, _mm512_set1_epi16(0xff)); }
__m512i high_bytes(__m512i pairs) { return _mm512_srli_epi16(pairs, 8); }

// Streams with fewer than 8 bits read a byte each, in the order of the lanes.
const std::uint8_t* refill(Streams& s, const std::uint8_t* next) {
  const __mmask32 empty = _mm512_cmplt_epu16_mask(s.bits, _mm512_set1_epi16(8));
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(next));
  const __m512i fetched = _mm512_maskz_expand_epi16(empty, _mm512_cvtepu8_epi16(bytes));
  s.window = _mm512_or_si512(s.window, _mm512_sllv_epi16(fetched, s.bits));
  s.bits = _mm512_mask_add_epi16(s.bits, empty, s.bits, _mm512_set1_epi16(8));
  return next + std::popcount(static_cast<std::uint32_t>(empty));
}

// Removes the code that was just decoded.
void consume(Streams& s, __m512i bits) {
  s.window = _mm512_srlv_epi16(s.window, bits);
  s.bits = _mm512_sub_epi16(s.bits, bits);
}

const std::uint8_t* decode_half(const Codebook& book, Streams& even, Streams& odd,
                                const std::uint8_t* next, std::uint8_t* exponents) {
  const __m512i windows = _mm512_or_si512(low_bytes(even.window), _mm512_slli_epi16(odd.window, 8));
  _mm512_storeu_si512(exponents, look_up(book.next_exponent.data(), windows));
  const __m512i bits = look_up(book.next_bits.data(), windows);
  consume(even, low_bytes(bits));
  consume(odd, high_bytes(bits));
  return refill(odd, refill(even, next));
}

class Decoder {
 public:
  void load(const StreamStates& windows, const StreamStates& bits) {
    for (std::size_t q = 0; q < s_.size(); ++q) {
      s_[q] = {_mm512_loadu_si512(windows.data() + q * kQuarter),
               _mm512_loadu_si512(bits.data() + q * kQuarter)};
    }
  }

  const std::uint8_t* step(const Codebook& book, const std::uint8_t* next,
                           std::uint8_t* exponents) {
    next = decode_half(book, s_[0], s_[1], next, exponents);
    return decode_half(book, s_[2], s_[3], next, exponents + kHalf);
  }

  bool at_end() const {
    __mmask32 wrong = 0;
    for (const Streams& s : s_) {
      wrong |= _mm512_test_epi16_mask(s.window, s.window) |
               _mm512_cmpneq_epu16_mask(s.bits, _mm512_set1_epi16(8));
    }
    return wrong == 0;
  }

 private:
  std::array<Streams, 4> s_;
};

// While encoding, streams are stored from the last to the first. The bytes that a mask selects are
// then in the order in which they are written.
class Encoder {
 public:
  Encoder() { s_.fill({_mm512_setzero_si512(), _mm512_set1_epi16(8)}); }

  void step(const Codebook& book, const std::uint8_t* exponents, ReversedWriter& out);

  // A state is the window with a one above its top bit, which encodes the number of bits.
  void store(StreamStates& states) const {
    for (std::size_t q = 0; q < s_.size(); ++q) {
      const __m512i top = _mm512_sllv_epi16(_mm512_set1_epi16(1), s_[q].bits);
      std::array<std::uint16_t, kQuarter> reversed;
      _mm512_storeu_si512(reversed.data(), _mm512_or_si512(s_[q].window, top));
      std::reverse_copy(reversed.begin(), reversed.end(), states.data() + q * kQuarter);
    }
  }

 private:
  std::array<Streams, 4> s_;
};

// Puts a code in front of every stream. Streams that would have 16 bits or more write their upper 8
// bits.
std::uint8_t* put(Streams& s, __m512i code, __m512i bits, std::uint8_t* out) {
  const __m512i eight = _mm512_set1_epi16(8);
  const __m512i sum = _mm512_add_epi16(s.bits, bits);
  const __mmask32 full = _mm512_cmpge_epu16_mask(sum, _mm512_set1_epi16(16));
  const __m512i kept = _mm512_sub_epi16(s.bits, eight);
  const __m512i given = _mm512_maskz_compress_epi16(full, _mm512_srlv_epi16(s.window, kept));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi16_epi8(given));
  const __m512i rest =
      _mm512_andnot_si512(_mm512_sllv_epi16(_mm512_set1_epi16(-1), kept), s.window);
  s.window = _mm512_mask_mov_epi16(s.window, full, rest);
  s.window = _mm512_or_si512(_mm512_sllv_epi16(s.window, bits), code);
  s.bits = _mm512_mask_sub_epi16(sum, full, sum, eight);
  return out + std::popcount(static_cast<std::uint32_t>(full));
}

// Reverses 64 bytes. The even values are then in the high bytes of each lane.
__m512i reversed_bytes(__m512i bytes) {
  alignas(64) static constexpr std::array<std::uint8_t, 64> kReverse = [] {
    std::array<std::uint8_t, 64> order = {};
    for (std::size_t i = 0; i < 64; ++i) order[i] = static_cast<std::uint8_t>(63 - i);
    return order;
  }();
  return _mm512_permutexvar_epi8(_mm512_load_si512(kReverse.data()), bytes);
}

void code_half(const Codebook& book, const std::uint8_t* exponents, Streams& even, Streams& odd,
               ReversedWriter& out) {
  const __m512i values = reversed_bytes(_mm512_loadu_si512(exponents));
  const __m512i codes = look_up(book.code.data(), values);
  const __m512i bits_or_escape = look_up(book.bits_or_escape.data(), values);
  const __mmask64 escaped = _mm512_movepi8_mask(bits_or_escape);
  const __m512i bits = _mm512_and_si512(bits_or_escape, _mm512_set1_epi8(15));
  out.bytes = put(odd, low_bytes(codes), low_bytes(bits), out.bytes);
  out.bytes = put(even, high_bytes(codes), high_bytes(bits), out.bytes);
  if (escaped == 0) return;
  _mm512_storeu_si512(out.escapes, _mm512_maskz_compress_epi8(escaped, values));
  out.escapes += std::popcount(static_cast<std::uint64_t>(escaped));
}

void Encoder::step(const Codebook& book, const std::uint8_t* exponents, ReversedWriter& out) {
  code_half(book, exponents + kHalf, s_[2], s_[3], out);
  code_half(book, exponents, s_[0], s_[1], out);
}

#else

// Plain code: one stream after the other, without a branch that depends on the data.
class Decoder {
 public:
  void load(const StreamStates& windows, const StreamStates& bits) {
    windows_ = windows;
    bits_ = bits;
  }

  const std::uint8_t* step(const Codebook& book, const std::uint8_t* next,
                           std::uint8_t* exponents) {
    for (std::size_t turn = 0; turn < kStreams; ++turn) {
      const std::uint32_t window = windows_[turn];
      const std::uint32_t code = window & 0xffu;
      const std::uint32_t length = book.next_bits[code];
      exponents[stream_at(turn)] = book.next_exponent[code];
      const std::uint32_t left = bits_[turn] - length;
      const std::uint32_t fetches = left < 8 ? 1u : 0u;
      const std::uint32_t fetched = (std::uint32_t{*next} & (0u - fetches)) << left;
      windows_[turn] = static_cast<std::uint16_t>((window >> length) | fetched);
      bits_[turn] = static_cast<std::uint16_t>(left + 8 * fetches);
      next += fetches;
    }
    return next;
  }

  bool at_end() const {
    return std::ranges::all_of(bits_, [](std::uint16_t bits) { return bits == 8; }) &&
           std::ranges::all_of(windows_, [](std::uint16_t window) { return window == 0; });
  }

 private:
  StreamStates windows_;
  StreamStates bits_;
};

// The inverse of the decoder; see kernels_scalar.cc for the invariant of the windows.
class Encoder {
 public:
  Encoder() {
    windows_.fill(0);
    bits_.fill(8);
  }

  void step(const Codebook& book, const std::uint8_t* exponents, ReversedWriter& out) {
    std::uint32_t escaped = 0;
    for (std::size_t turn = kStreams; turn-- > 0;) {
      const std::uint8_t exponent = exponents[stream_at(turn)];
      escaped |= book.bits_or_escape[exponent];
      const std::uint32_t length = book.bits_or_escape[exponent] & 15u;
      const std::uint32_t gives = bits_[turn] + length >= 16 ? 1u : 0u;
      const std::uint32_t kept = bits_[turn] - 8 * gives;
      const std::uint32_t window = windows_[turn];
      *out.bytes = static_cast<std::uint8_t>(window >> kept);
      out.bytes += gives;
      const std::uint32_t rest = window & ((1u << kept) - 1);
      windows_[turn] = static_cast<std::uint16_t>((rest << length) | book.code[exponent]);
      bits_[turn] = static_cast<std::uint16_t>(kept + length);
    }
    if ((escaped & kEscapeFlag) == 0) return;
    for (std::size_t i = kStreams; i-- > 0;) {
      *out.escapes = exponents[i];
      out.escapes += book.bits_or_escape[exponents[i]] / kEscapeFlag;
    }
  }

  void store(StreamStates& states) const {
    for (std::size_t i = 0; i < kStreams; ++i) {
      states[i] = static_cast<std::uint16_t>(windows_[i] | (1u << bits_[i]));
    }
  }

 private:
  StreamStates windows_;
  StreamStates bits_;
};

#endif

void code_exponents(const Codebook& book, const std::uint8_t* exponents, std::size_t steps,
                    CodedExponents& coded) {
  Encoder encoder;
  ReversedWriter out = {coded.reversed_bytes.data(), coded.reversed_escapes.data()};
  for (std::size_t step = steps; step-- > 0;) {
    encoder.step(book, exponents + step * kStreams, out);
  }
  coded.byte_count = static_cast<std::size_t>(out.bytes - coded.reversed_bytes.data());
  coded.escape_count = static_cast<std::size_t>(out.escapes - coded.reversed_escapes.data());
  encoder.store(coded.states);
}

// Returns false if a state lacks the one above its window, which an encoder always writes.
bool start_decoder(const std::uint8_t* states, Decoder& decoder) {
  StreamStates windows;
  StreamStates bits;
  std::memcpy(windows.data(), states, sizeof(windows));
  for (std::size_t i = 0; i < kStreams; ++i) {
    if (windows[i] < 0x100) return false;
    bits[i] = static_cast<std::uint16_t>(std::bit_width(windows[i]) - 1);
    windows[i] = static_cast<std::uint16_t>(windows[i] - (1u << bits[i]));
  }
  decoder.load(windows, bits);
  return true;
}

// A step reads at most kStreams bytes. The last steps read from a copy that is followed by enough
// zeros.
bool decode_exponents(const Codebook& book, const ExponentStream& in, std::size_t steps,
                      std::uint8_t* exponents) {
  Decoder decoder;
  if (!start_decoder(in.states, decoder)) return false;
  const std::uint8_t* next = in.bytes;
  const std::uint8_t* const readable_end = in.bytes + in.readable;
  std::size_t step = 0;
  for (; step < steps && static_cast<std::size_t>(readable_end - next) >= kStreams; ++step) {
    prefetch_payload(next);
    next = decoder.step(book, next, exponents + step * kStreams);
  }
  auto used = static_cast<std::size_t>(next - in.bytes);
  if (step < steps) {
    if (used > in.byte_count) return false;
    std::array<std::uint8_t, 3 * kStreams> copy = {};
    const std::uint8_t* const end = std::copy_n(next, in.byte_count - used, copy.data());
    next = copy.data();
    for (; step < steps && next <= end; ++step) {
      next = decoder.step(book, next, exponents + step * kStreams);
    }
    if (step < steps) return false;
    used += static_cast<std::size_t>(next - copy.data());
  }
  return used == in.byte_count && decoder.at_end();
}

}  // namespace
}  // namespace tributary::gcomp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
