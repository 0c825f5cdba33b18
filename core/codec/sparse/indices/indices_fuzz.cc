// Untrusted indices. Accepted indices must be ascending and within the bucket, and writing them
// again must produce the input bytes, because an encoding is unique.
#include <algorithm>
#include <cstdlib>

#include "core/codec/sparse/indices/indices.h"
#include "core/codec/sparse/indices/rice.h"

namespace tributary::sparse {
namespace {

void run(ByteSpan data) {
  ByteReader reader(data);
  const Result<std::uint8_t> layout = reader.read<std::uint8_t>("layout");
  const Result<std::uint16_t> count = reader.read<std::uint16_t>("count");
  const Result<std::uint32_t> values = reader.read<std::uint32_t>("values");
  if (!layout.ok() || !count.ok() || !values.ok()) return;
  const std::size_t bucket = *values % (1u << 26);
  const Bytes in(data.begin() + static_cast<std::ptrdiff_t>(reader.position()), data.end());

  IndexVector indices;
  if (!read_indices({}, *layout, in, *count, bucket, indices).ok()) return;
  if (indices.size() != *count) std::abort();
  if (std::ranges::adjacent_find(indices, std::greater_equal()) != indices.end()) std::abort();
  if (!indices.empty() && indices.back() >= bucket) std::abort();

  // The parameter of the gaps layout is its first byte.
  IndexPlan plan = {.layout = IndexLayout{*layout}, .rice_bits = 0, .bytes = in.size()};
  if (plan.layout == IndexLayout::gaps) plan.rice_bits = in[0];
  Bytes again(in.size());
  write_indices({}, plan, indices, bucket, again);
  if (again != in) std::abort();
}

}  // namespace
}  // namespace tributary::sparse

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::sparse::run({data, size});
  return 0;
}
