#include "core/codec/sparse/indices/rice.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

namespace tributary::sparse {
namespace {

constexpr unsigned kRiceBitsMax = 26;  // the largest bucket has 2^26 values
constexpr std::size_t kHeaderBytes = 1;

// An entry of the table: the first index of a group, and the end of its codes in bytes.
struct Group {
  std::uint32_t first;
  std::uint32_t end;
};

std::size_t groups_of(std::size_t count) { return (count + kIndexGroup - 1) / kIndexGroup; }

Status corrupt(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// The best parameter for geometrically distributed gaps is near log2(ln 2 · mean gap). Real gaps
// form clusters, so neighbouring parameters are tried too.
constexpr unsigned kCandidates = 4;
unsigned first_candidate(std::span<const std::uint32_t> indices) {
  const double mean =
      static_cast<double>(indices.back() + 1ull) / static_cast<double>(indices.size());
  const auto cut = static_cast<std::uint64_t>(mean * 0.69);
  const int middle = static_cast<int>(std::bit_width(cut)) - 1;
  return static_cast<unsigned>(std::clamp(middle - 2, 0, int{kRiceBitsMax - kCandidates + 1}));
}

// Returns the size of a group's codes in bits for each parameter from `first_bits` on.
std::array<std::uint64_t, kCandidates> code_bits(std::span<const std::uint32_t> group,
                                                 unsigned first_bits) {
  std::array<std::uint64_t, kCandidates> bits = {};
  for (std::size_t i = 1; i < group.size(); ++i) {
    // One shift serves all candidates: a larger parameter only shifts further.
    const std::uint32_t rest = (group[i] - group[i - 1] - 1) >> first_bits;
    for (unsigned c = 0; c < kCandidates; ++c) bits[c] += rest >> c;
  }
  for (unsigned c = 0; c < kCandidates; ++c) bits[c] += (group.size() - 1) * (first_bits + c + 1);
  return bits;
}

template <typename Body>
void for_each_group(const Execution& execution, std::size_t count, const Body& body) {
  for_each_chunk(execution, count, kIndexGroup,
                 [&](std::size_t group, std::size_t begin, std::size_t end) {
                   body(group, begin, end - begin);
                 });
}

// Writes codes whose total size is known in advance: whole words while they fit, then single bytes.
class CodeWriter {
 public:
  explicit CodeWriter(MutableByteSpan out) : out_(out) {}

  void write(std::uint32_t gap_less_one, unsigned rice_bits) {
    std::uint32_t rest = gap_less_one >> rice_bits;
    for (; rest >= 32; rest -= 32) append(0, 32);
    append(std::uint64_t{1} << rest, rest + 1);
    append(gap_less_one & ((std::uint64_t{1} << rice_bits) - 1), rice_bits);
  }
  void finish() {
    while (filled_ > 0) {
      out_[position_++] = static_cast<std::uint8_t>(window_);
      window_ >>= 8;
      filled_ -= std::min(filled_, 8u);
    }
  }

 private:
  // Appends up to 32 bits. Fewer than 32 bits are pending at the start.
  void append(std::uint64_t code, unsigned bits) {
    window_ |= code << filled_;
    filled_ += bits;
    if (filled_ < 32) return;
    const auto word = static_cast<std::uint32_t>(window_);
    std::memcpy(out_.subspan(position_, sizeof(word)).data(), &word, sizeof(word));
    position_ += sizeof(word);
    window_ >>= 32;
    filled_ -= 32;
  }

  MutableByteSpan out_;
  std::size_t position_ = 0;
  std::uint64_t window_ = 0;
  unsigned filled_ = 0;
};

// Reads codes from untrusted bytes. It never reads past the end; bits after the end are zero.
class CodeReader {
 public:
  explicit CodeReader(ByteSpan codes) : codes_(codes), bits_(std::uint64_t{codes.size()} * 8) {}

  // Returns a gap minus one. The caller checks overrun() afterwards.
  std::uint64_t read(unsigned rice_bits) {
    std::uint64_t rest = 0;
    std::uint64_t window = peek();
    while (window == 0 && !overrun()) {
      rest += peeked();
      position_ += peeked();
      window = peek();
    }
    const auto zeros = static_cast<unsigned>(std::countr_zero(window | kTopBit));
    rest += zeros;
    const unsigned code_bits = zeros + 1 + rice_bits;
    if (code_bits <= peeked()) {
      window >>= zeros;  // in two steps: a shift by zeros + 1 = 64 is undefined
      window >>= 1;
    } else {
      position_ += zeros + 1;
      window = peek();
      position_ -= zeros + 1;
    }
    position_ += code_bits;
    return rest << rice_bits | (window & ((std::uint64_t{1} << rice_bits) - 1));
  }
  bool overrun() const { return position_ > bits_; }
  // Whether only 0s remain up to the end of the byte.
  bool at_end() const {
    if (overrun() || bits_ - position_ >= 8) return false;
    return position_ == bits_ || peek() == 0;
  }

 private:
  static constexpr std::uint64_t kTopBit = std::uint64_t{1} << 63;

  unsigned peeked() const { return 64 - static_cast<unsigned>(position_ % 8); }

  // The next peeked() bits; 0s after the end.
  std::uint64_t peek() const {
    const std::uint64_t byte = position_ / 8;
    std::uint64_t window = 0;
    if (byte + sizeof(window) <= codes_.size()) {
      std::memcpy(&window, codes_.data() + byte, sizeof(window));
    } else if (byte < codes_.size()) {
      std::memcpy(&window, codes_.data() + byte, codes_.size() - byte);
    }
    return window >> (position_ % 8);
  }

  ByteSpan codes_;
  std::uint64_t bits_;
  std::uint64_t position_ = 0;
};

// Checks every group before its codes are read in parallel.
Status read_table(ByteSpan in, std::size_t count, std::size_t values, unsigned& rice_bits,
                  std::vector<Group>& groups, ByteSpan& codes) {
  groups.resize(groups_of(count));
  const std::size_t table_bytes = groups.size() * sizeof(Group);
  if (in.size() < kHeaderBytes + table_bytes) {
    return corrupt("table of gaps", fmt::format("{} bytes or more", kHeaderBytes + table_bytes),
                   fmt::format("{}", in.size()));
  }
  rice_bits = in[0];
  if (rice_bits > kRiceBitsMax) {
    return corrupt("low bits of a gap", fmt::format("at most {}", kRiceBitsMax),
                   fmt::format("{}", rice_bits));
  }
  if (table_bytes > 0) std::memcpy(groups.data(), in.data() + kHeaderBytes, table_bytes);
  codes = in.subspan(kHeaderBytes + table_bytes);
  // Ends must be ascending and the last one must be the end of the codes, so the groups' codes are
  // disjoint and complete.
  std::uint32_t begin = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].first >= values || groups[g].end < begin || groups[g].end > codes.size()) {
      return corrupt(fmt::format("group {} of gaps", g),
                     fmt::format("an index below {} and an end in order", values),
                     fmt::format("{} and {}", groups[g].first, groups[g].end));
    }
    begin = groups[g].end;
  }
  if (begin == codes.size()) return {};
  return corrupt("end of gaps", fmt::format("{}", codes.size()), fmt::format("{}", begin));
}

bool read_group(ByteSpan codes, unsigned rice_bits, std::uint32_t first, std::size_t values,
                std::span<std::uint32_t> indices) {
  CodeReader reader(codes);
  indices[0] = first;
  std::uint64_t index = first;
  for (std::size_t i = 1; i < indices.size(); ++i) {
    index += reader.read(rice_bits) + 1;
    if (index >= values || reader.overrun()) return false;
    indices[i] = static_cast<std::uint32_t>(index);
  }
  // A byte or a bit after the last code would make the encoding of a set ambiguous.
  return reader.at_end();
}

}  // namespace

IndexPlan gaps_plan(const Execution& execution, std::span<const std::uint32_t> indices) {
  const unsigned first_bits = first_candidate(indices);
  std::vector<std::array<std::uint64_t, kCandidates>> sizes(groups_of(indices.size()));
  for_each_group(execution, indices.size(),
                 [&](std::size_t group, std::size_t begin, std::size_t count) {
                   sizes[group] = code_bits(indices.subspan(begin, count), first_bits);
                 });
  IndexPlan best = {.layout = IndexLayout::gaps, .bytes = static_cast<std::size_t>(-1)};
  for (unsigned c = 0; c < kCandidates; ++c) {
    std::uint64_t bytes = kHeaderBytes + sizes.size() * sizeof(Group);
    for (const auto& group : sizes) bytes += (group[c] + 7) / 8;
    if (bytes >= best.bytes) continue;
    best.rice_bits = first_bits + c;
    best.bytes = bytes;
  }
  return best;
}

void write_gaps(const Execution& execution, unsigned rice_bits,
                std::span<const std::uint32_t> indices, MutableByteSpan out) {
  std::vector<Group> groups(groups_of(indices.size()));
  for_each_group(execution, indices.size(),
                 [&](std::size_t group, std::size_t begin, std::size_t count) {
                   std::uint64_t bits = (count - 1) * (rice_bits + 1ull);
                   for (std::size_t i = begin + 1; i < begin + count; ++i) {
                     bits += (indices[i] - indices[i - 1] - 1) >> rice_bits;
                   }
                   groups[group] = {.first = indices[begin],
                                    .end = static_cast<std::uint32_t>((bits + 7) / 8)};
                 });
  for (std::size_t g = 1; g < groups.size(); ++g) groups[g].end += groups[g - 1].end;

  out[0] = static_cast<std::uint8_t>(rice_bits);
  std::memcpy(out.data() + kHeaderBytes, groups.data(), groups.size() * sizeof(Group));
  const MutableByteSpan codes = out.subspan(kHeaderBytes + groups.size() * sizeof(Group));
  for_each_group(execution, indices.size(),
                 [&](std::size_t group, std::size_t begin, std::size_t count) {
                   const std::uint32_t from = group == 0 ? 0 : groups[group - 1].end;
                   CodeWriter writer(codes.subspan(from, groups[group].end - from));
                   for (std::size_t i = begin + 1; i < begin + count; ++i) {
                     writer.write(indices[i] - indices[i - 1] - 1, rice_bits);
                   }
                   writer.finish();
                 });
}

Status read_gaps(const Execution& execution, ByteSpan in, std::size_t values,
                 std::span<std::uint32_t> indices) {
  unsigned rice_bits = 0;
  std::vector<Group> groups;
  ByteSpan codes;
  TRIBUTARY_TRY(read_table(in, indices.size(), values, rice_bits, groups, codes));
  std::atomic<bool> good = true;
  for_each_group(execution, indices.size(),
                 [&](std::size_t group, std::size_t begin, std::size_t count) {
                   const std::uint32_t from = group == 0 ? 0 : groups[group - 1].end;
                   if (!read_group(codes.subspan(from, groups[group].end - from), rice_bits,
                                   groups[group].first, values, indices.subspan(begin, count))) {
                     good = false;
                   }
                 });
  // The groups were read independently, so their order is checked last.
  for (std::size_t g = 1; good && g < groups.size(); ++g) {
    good = indices[g * kIndexGroup] > indices[g * kIndexGroup - 1];
  }
  if (good) return {};
  return corrupt("gaps between indices",
                 fmt::format("{} ascending indices below {}", indices.size(), values),
                 "codes that say something else");
}

}  // namespace tributary::sparse
