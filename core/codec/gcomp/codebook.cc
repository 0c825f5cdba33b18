#include "core/codec/gcomp/codebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <numeric>

namespace tributary::gcomp {
namespace {

// Number of values of the bits that select a decoder's table entry.
constexpr unsigned kWindow = 1u << kCodeBitsMax;

// A list of the package-merge algorithm: leaves and pairs of the list below it, by weight. Leaves
// come first among equal weights.
struct PackageList {
  std::vector<std::uint64_t> weights;
  std::vector<bool> is_leaf;
};

PackageList merge(std::span<const std::uint64_t> leaves, const PackageList& below) {
  PackageList out;
  std::size_t leaf = 0;
  std::size_t pair = 0;
  const std::size_t pairs = below.weights.size() / 2;
  while (leaf < leaves.size() || pair < pairs) {
    const auto package = [&] { return below.weights[2 * pair] + below.weights[2 * pair + 1]; };
    const bool take_leaf = pair == pairs || (leaf < leaves.size() && leaves[leaf] <= package());
    out.weights.push_back(take_leaf ? leaves[leaf] : package());
    out.is_leaf.push_back(take_leaf);
    ++(take_leaf ? leaf : pair);
  }
  return out;
}

std::uint64_t weighted_sum(std::span<const std::uint64_t> weights,
                           std::span<const std::uint8_t> lengths) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * lengths[i];
  return sum;
}

// Returns the exponents that occur, by descending frequency. Among equals the lower exponent comes
// first, so the order is unique.
std::vector<unsigned> by_frequency(const Histogram& histogram) {
  std::vector<unsigned> order;
  for (unsigned e = 0; e < kExponents; ++e) {
    if (histogram[e] > 0) order.push_back(e);
  }
  std::ranges::stable_sort(order,
                           [&](unsigned a, unsigned b) { return histogram[a] > histogram[b]; });
  return order;
}

// A candidate codebook: the number of exponents with a code of their own, and the total cost in
// bits.
struct Choice {
  std::uint64_t cost = ~std::uint64_t{0};
  std::size_t coded = 0;
  std::vector<std::uint8_t> lengths;  // parallel to `symbols`, by ascending weight
  std::vector<unsigned> symbols;
};

// Returns the code for the `coded` most frequent exponents and the escape.
Choice cost_of(std::span<const unsigned> order, std::size_t coded, const Histogram& histogram,
               unsigned bits_max) {
  std::uint64_t rest = 0;
  for (const unsigned e : order.subspan(coded)) rest += histogram[e];
  Choice choice;
  choice.coded = coded;
  choice.symbols.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(coded));
  std::ranges::reverse(choice.symbols);
  // The escape needs a code even if no exponent uses it yet.
  const std::uint64_t escape_weight = std::max<std::uint64_t>(rest, 1);
  const auto place = std::ranges::find_if(
      choice.symbols, [&](unsigned e) { return histogram[e] >= escape_weight; });
  choice.symbols.insert(place, kEscape);

  std::vector<std::uint64_t> weights;
  for (const unsigned s : choice.symbols) {
    weights.push_back(s == kEscape ? escape_weight : histogram[s]);
  }
  choice.lengths = limited_lengths(weights, bits_max);
  choice.cost = weighted_sum(weights, choice.lengths) + 8 * rest;
  return choice;
}

// Codes are read from the low bit, but canonical codes are assigned from the high bit.
unsigned reversed(unsigned code, unsigned bits) {
  unsigned out = 0;
  for (unsigned i = 0; i < bits; ++i) out |= ((code >> i) & 1u) << (bits - 1 - i);
  return out;
}

// Fills in all fields that follow from the lengths. The lengths must form a complete code.
void make_tables(Codebook& book) {
  const auto missing = std::ranges::find(book.bits, std::uint8_t{0});
  book.escape_mark = static_cast<std::uint8_t>(missing - book.bits.begin());
  unsigned code = 0;
  unsigned shortest = kCodeBitsMax + 1;
  for (unsigned bits = 1; bits <= kCodeBitsMax; ++bits, code <<= 1) {
    for (unsigned symbol = 0; symbol <= kEscape; ++symbol) {
      if (book.bits[symbol] != bits) continue;
      const unsigned low_first = reversed(code++, bits);
      const bool escape = symbol == kEscape;
      for (unsigned window = low_first; window < kWindow; window += 1u << bits) {
        book.next_exponent[window] = escape ? book.escape_mark : static_cast<std::uint8_t>(symbol);
        book.next_bits[window] = static_cast<std::uint8_t>(bits);
      }
      for (unsigned e = 0; e < kExponents; ++e) {
        if (escape ? book.bits[e] != 0 : e != symbol) continue;
        book.code[e] = static_cast<std::uint8_t>(low_first);
        book.bits_or_escape[e] = static_cast<std::uint8_t>(bits | (escape ? kEscapeFlag : 0u));
      }
      if (!escape && bits < shortest) {
        shortest = bits;
        book.padding = static_cast<std::uint8_t>(symbol);
      }
    }
  }
}

Status bad_codebook(std::string what, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "codebook, " + std::move(what),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

}  // namespace

std::vector<std::uint8_t> limited_lengths(std::span<const std::uint64_t> ascending,
                                          unsigned bits_max) {
  assert(ascending.size() >= 2 && ascending.size() <= (std::size_t{1} << bits_max));
  assert(std::ranges::is_sorted(ascending));
  std::vector<PackageList> lists(bits_max);
  lists[0] = {{ascending.begin(), ascending.end()}, std::vector<bool>(ascending.size(), true)};
  for (unsigned level = 1; level < bits_max; ++level) {
    lists[level] = merge(ascending, lists[level - 1]);
  }
  // The 2n - 2 lightest entries of the last list are taken, and each pair takes its two entries
  // from the list below. The length of a leaf's code is the number of times that the leaf was
  // taken.
  std::vector<std::uint8_t> lengths(ascending.size(), 0);
  std::size_t taken = 2 * ascending.size() - 2;
  for (unsigned level = bits_max; level-- > 0 && taken > 0;) {
    std::size_t leaves = 0;
    for (std::size_t i = 0; i < taken; ++i) leaves += lists[level].is_leaf[i] ? 1u : 0u;
    for (std::size_t i = 0; i < leaves; ++i) ++lengths[i];
    taken = 2 * (taken - leaves);
  }
  return lengths;
}

Codebook make_codebook(const Histogram& histogram, unsigned bits_max, std::uint32_t version) {
  assert(bits_max >= kCodeBitsMin && bits_max <= kCodeBitsMax);
  std::vector<unsigned> order = by_frequency(histogram);
  if (order.empty()) order.push_back(0);  // any code serves
  const std::size_t coded_max = std::min<std::size_t>(order.size(), (1u << bits_max) - 1);
  Choice best;
  for (std::size_t coded = 1; coded <= coded_max; ++coded) {
    Choice choice = cost_of(order, coded, histogram, bits_max);
    if (choice.cost < best.cost) best = std::move(choice);
  }
  Codebook book;
  book.version = version;
  for (std::size_t i = 0; i < best.symbols.size(); ++i) {
    book.bits[best.symbols[i]] = best.lengths[i];
  }
  make_tables(book);
  return book;
}

void write_codebook(const Codebook& book, MutableByteSpan out) {
  assert(out.size() >= kCodebookBytes);
  std::memset(out.data(), 0, kCodebookBytes);
  std::memcpy(out.data(), &book.version, sizeof(book.version));
  out[4] = book.bits[kEscape];
  for (unsigned e = 0; e < kExponents; ++e) {
    const unsigned shifted = static_cast<unsigned>(book.bits[e]) << (e % 2 * 4);
    out[8 + e / 2] = static_cast<std::uint8_t>(out[8 + e / 2] | shifted);
  }
}

Result<Codebook> read_codebook(ByteSpan in, unsigned bits_max) {
  if (in.size() < kCodebookBytes) {
    return bad_codebook("size", fmt::format("{} bytes", kCodebookBytes),
                        fmt::format("{}", in.size()));
  }
  if ((in[5] | in[6] | in[7]) != 0) return bad_codebook("byte 5", "zero", "something else");
  Codebook book;
  std::memcpy(&book.version, in.data(), sizeof(book.version));
  book.bits[kEscape] = in[4];
  for (unsigned e = 0; e < kExponents; ++e) {
    book.bits[e] = static_cast<std::uint8_t>((in[8 + e / 2] >> (e % 2 * 4)) & 15u);
  }
  // An encoder may meet an exponent that the codebook's histogram did not contain.
  if (book.bits[kEscape] == 0) return bad_codebook("escape code", "1 bit or more", "none");
  unsigned used = 0;
  for (const unsigned bits : book.bits) {
    if (bits > bits_max) {
      return bad_codebook("code length", fmt::format("at most {} bits", bits_max),
                          fmt::format("{}", bits));
    }
    if (bits > 0) used += kWindow >> bits;
  }
  if (used != kWindow) {
    return bad_codebook("codes", "lengths that use up all codes once",
                        fmt::format("{}/{} of them", used, kWindow));
  }
  // A code for all 256 exponents and the escape would need a ninth bit, so at least one exponent
  // has no code.
  make_tables(book);
  return book;
}

}  // namespace tributary::gcomp
