#include "core/codec/gcomp/chunk.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>

namespace tributary::gcomp {
namespace {

constexpr std::uint8_t kLevelsDiffer = kLevels;

// The first bytes of a chunk; chunk.h describes the format.
struct Header {
  std::uint32_t coded_bytes = 0;
  std::uint32_t escapes = 0;
  std::uint8_t level = 0;
  std::uint8_t pruned = 0;
  std::uint8_t coded = 0;
  std::uint8_t zero = 0;
};
static_assert(sizeof(Header) == kChunkHeaderBytes);

constexpr std::size_t round_up_4(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

constexpr std::size_t steps_of(std::size_t n) { return (n + kStreams - 1) / kStreams; }

// Size of coded exponents with the streams' states, in bytes.
constexpr std::size_t coded_size(std::size_t bytes, std::size_t escapes) {
  return kStreams * sizeof(std::uint16_t) + bytes + escapes;
}

// The words after the exponents are aligned to 4 bytes within the chunk.
std::uint8_t* pad_to_4(const std::uint8_t* start, std::uint8_t* end) {
  while ((end - start) % 4 != 0) *end++ = 0;
  return end;
}

// std::reverse_copy, eight bytes at a time.
std::uint8_t* reverse_copy(const std::uint8_t* in, std::size_t count, std::uint8_t* out) {
  for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t)) {
    std::uint64_t eight;
    std::memcpy(&eight, in + count - sizeof(eight), sizeof(eight));
    eight = __builtin_bswap64(eight);
    std::memcpy(out, &eight, sizeof(eight));
    out += sizeof(eight);
  }
  return std::reverse_copy(in, in + count, out);
}

// Writes the exponents, coded if that makes them smaller and raw otherwise. Fills the last step
// with the padding exponent, because the coder works on whole steps.
std::uint8_t* write_exponents(const Kernels& loops, const Codebook* book, std::size_t n,
                              Scratch& scratch, Header& header, std::uint8_t* out) {
  std::uint8_t* const start = out;
  const CodedExponents& coded = scratch.coded;
  std::array<std::uint8_t, kChunkValues + kStreams>& exponents = scratch.parts.exponents;
  if (book != nullptr) {
    std::fill(exponents.begin() + static_cast<std::ptrdiff_t>(n),
              exponents.begin() + static_cast<std::ptrdiff_t>(steps_of(n) * kStreams),
              book->padding);
    loops.code_exponents(*book, exponents.data(), steps_of(n), scratch.coded);
  }
  if (book == nullptr || coded_size(coded.byte_count, coded.escape_count) >= n) {
    out = std::copy_n(exponents.data(), n, out);
    return pad_to_4(start, out);
  }
  header.coded = 1;
  header.coded_bytes = static_cast<std::uint32_t>(coded.byte_count);
  header.escapes = static_cast<std::uint32_t>(coded.escape_count);
  std::memcpy(out, coded.states.data(), sizeof(coded.states));
  out += sizeof(coded.states);
  out = reverse_copy(coded.reversed_bytes.data(), coded.byte_count, out);
  out = reverse_copy(coded.reversed_escapes.data(), coded.escape_count, out);
  return pad_to_4(start, out);
}

// Writes the levels, unless all sent values have the same one, and the fractions of each level.
std::uint8_t* write_fractions(const Kernels& loops, Parts& parts, Header& header,
                              std::uint8_t* out) {
  const std::size_t sent =
      std::accumulate(parts.counts.begin(), parts.counts.end(), std::size_t{0});
  const auto all = std::ranges::find(parts.counts, sent);
  if (all != parts.counts.end()) {
    header.level = static_cast<std::uint8_t>(all - parts.counts.begin());
  } else {
    header.level = kLevelsDiffer;
    std::memcpy(out, parts.level_low.data(), plane_bytes(sent));
    out += plane_bytes(sent);
    std::memcpy(out, parts.level_high.data(), plane_bytes(sent));
    out += plane_bytes(sent);
  }
  // The packing kernels read whole rows of columns, so the fields after the last one must be zero.
  for (unsigned level = 0; level < kLevels; ++level) {
    std::fill_n(parts.fractions[level].data() + parts.counts[level], kColumns, 0);
    loops.pack(parts.fractions[level].data(), parts.counts[level], sent_bits(level), out);
    out += packed_words(parts.counts[level], sent_bits(level)) * sizeof(std::uint32_t);
  }
  return out;
}

// Takes consecutive pieces of a chunk's untrusted bytes.
class Cursor {
 public:
  explicit Cursor(ByteSpan bytes) : bytes_(bytes) {}

  // Returns nullptr if fewer than `count` bytes remain.
  const std::uint8_t* take(std::size_t count) {
    if (count > bytes_.size() - position_) return nullptr;
    const std::uint8_t* const at = bytes_.data() + position_;
    position_ += count;
    return at;
  }
  std::size_t position() const { return position_; }
  bool at_end() const { return position_ == bytes_.size(); }

 private:
  ByteSpan bytes_;
  std::size_t position_ = 0;
};

// Descriptions of faults; the caller reports them as the expected content.
constexpr const char* kCutShort = "a chunk that is longer";

const char* read_exponents(const Kernels& loops, const Codebook* book, const Header& header,
                           std::size_t n, std::size_t readable, Cursor& cursor,
                           std::uint8_t* exponents) {
  if (header.coded == 0) {
    if (header.coded_bytes != 0 || header.escapes != 0) return "no codes among raw exponents";
    const std::uint8_t* const raw = cursor.take(round_up_4(n));
    if (raw == nullptr) return kCutShort;
    std::memcpy(exponents, raw, n);
    return nullptr;
  }
  if (book == nullptr) return "raw exponents where there is no codebook";
  // Bounds the sizes below, which are computed from untrusted numbers.
  if (header.coded_bytes > kChunkValues || header.escapes > n) return "fewer coded exponents";
  const std::size_t begin = cursor.position();
  const std::size_t size = coded_size(header.coded_bytes, header.escapes);
  const std::uint8_t* const states = cursor.take(round_up_4(size));
  if (states == nullptr) return kCutShort;
  const std::uint8_t* const bytes = states + kStreams * sizeof(std::uint16_t);
  const ExponentStream stream = {.states = states,
                                 .bytes = bytes,
                                 .byte_count = header.coded_bytes,
                                 .readable = readable - begin - kStreams * sizeof(std::uint16_t)};
  if (!loops.decode_exponents(*book, stream, steps_of(n), exponents)) {
    return "the codes of as many exponents as there are values";
  }
  if (!loops.restore_escapes(book->escape_mark, bytes + header.coded_bytes, header.escapes,
                             exponents, n)) {
    return "an escaped exponent for every escape code";
  }
  return nullptr;
}

// Sets the same level for all sent values.
void set_levels(unsigned level, std::size_t n, Masks& masks) {
  const std::size_t blocks = (n + kBlock - 1) / kBlock;
  for (std::size_t i = 0; i < blocks; ++i) {
    masks.level_low[i] = (level & 1u) != 0 ? masks.sent[i] : 0;
    masks.level_high[i] = (level & 2u) != 0 ? masks.sent[i] : 0;
  }
}

const char* read_fractions(const Kernels& loops, const Header& header, Scratch& scratch,
                           Cursor& cursor, std::span<float> values) {
  const std::uint8_t* const exponents = scratch.parts.exponents.data();
  Masks& masks = scratch.masks;
  const std::size_t n = values.size();
  // The decoder knows from the exponents which values were pruned, so no mask is sent.
  const std::size_t sent = loops.find_sent(exponents, n, header.pruned != 0, masks);
  std::array<std::size_t, kLevels> counts = {};
  if (header.level == kLevelsDiffer) {
    const std::uint8_t* const rows = cursor.take(2 * plane_bytes(sent));
    if (rows == nullptr) return kCutShort;
    loops.find_levels(rows, rows + plane_bytes(sent), n, masks, counts);
  } else {
    counts[header.level] = sent;
  }

  std::array<const std::uint8_t*, kLevels> packed = {};
  for (unsigned level = 0; level < kLevels; ++level) {
    packed[level] =
        cursor.take(packed_words(counts[level], sent_bits(level)) * sizeof(std::uint32_t));
    if (packed[level] == nullptr) return kCutShort;
  }
  if (!cursor.at_end()) return "a chunk that is shorter";

  // The common case needs no masks: the values are joined directly from the packed words.
  if (header.level != kLevelsDiffer && sent == n) {
    loops.join_all(exponents, packed[header.level], header.level, n, values.data());
    return nullptr;
  }
  if (header.level != kLevelsDiffer) set_levels(header.level, n, masks);
  std::array<const std::uint32_t*, kLevels> fractions = {};
  std::uint32_t* next = scratch.fractions.data();
  for (unsigned level = 0; level < kLevels; ++level) {
    loops.unpack(packed[level], counts[level], sent_bits(level), truncated_bits(level), next);
    fractions[level] = next;
    next += (counts[level] + kColumns - 1) / kColumns * kColumns;
  }
  loops.join(exponents, masks, fractions, n, values.data());
  return nullptr;
}

}  // namespace

Scratch& thread_scratch() {
  thread_local const auto scratch = std::make_unique<Scratch>();
  return *scratch;
}

LevelRule rule_of_chunk(const Kernels& loops, const LevelRule& rule, unsigned level,
                        std::span<const float> values) {
  if (rule.kind == LevelRule::Kind::fixed) return rule;
  constexpr std::size_t kStride = 16 * kBlock;
  Parts& parts = thread_scratch().parts;
  std::size_t sent = 0;
  std::size_t above = 0;
  for (std::size_t i = 0; i < values.size(); i += kStride) {
    loops.split(values.data() + i, std::min(kBlock, values.size() - i), rule_at(rule, i), true,
                parts);
    for (unsigned at = 0; at < kLevels; ++at) {
      sent += parts.counts[at];
      if (at > level) above += parts.counts[at];
    }
  }
  return {.level = 2 * above > sent ? level + 1 : level};
}

ChunkStatistics encode_chunk(const Kernels& loops, const Codebook* book, const LevelRule& rule,
                             bool exact, std::span<const float> values, std::uint8_t* out) {
  Scratch& scratch = thread_scratch();
  Header header = {.pruned = 1};
  loops.split(values.data(), values.size(), rule, true, scratch.parts);
  // Lossless encoding must keep denormals and -0. They are rare, so pruning is tried first and
  // repeated without it only if it would lose a value.
  if (exact && scratch.parts.pruned_more_than_zeros) {
    header.pruned = 0;
    loops.split(values.data(), values.size(), rule, false, scratch.parts);
  }
  std::uint8_t* next =
      write_exponents(loops, book, values.size(), scratch, header, out + kChunkHeaderBytes);
  next = write_fractions(loops, scratch.parts, header, next);
  std::memcpy(out, &header, sizeof(header));
  const std::size_t coded = scratch.coded.byte_count + scratch.coded.escape_count;
  std::uint64_t dropped = 0;
  for (unsigned level = 0; level < kLevels; ++level) {
    dropped += std::uint64_t{scratch.parts.counts[level]} * truncated_bits(level);
  }
  return {.bytes = static_cast<std::size_t>(next - out),
          .escapes = book != nullptr ? scratch.coded.escape_count : 0,
          .misfit = book != nullptr && coded >= values.size(),
          .bits_dropped = dropped};
}

const char* decode_chunk(const Kernels& loops, const Codebook* book, ByteSpan chunk,
                         std::size_t readable, std::span<float> values) {
  Cursor cursor(chunk);
  const std::uint8_t* const head = cursor.take(kChunkHeaderBytes);
  if (head == nullptr) return kCutShort;
  Header header;
  std::memcpy(&header, head, sizeof(header));
  if (header.level > kLevelsDiffer || header.pruned > 1 || header.coded > 1 || header.zero != 0) {
    return "a chunk header that some encoder writes";
  }
  Scratch& scratch = thread_scratch();
  if (const char* fault = read_exponents(loops, book, header, values.size(), readable, cursor,
                                         scratch.parts.exponents.data())) {
    return fault;
  }
  return read_fractions(loops, header, scratch, cursor, values);
}

}  // namespace tributary::gcomp
