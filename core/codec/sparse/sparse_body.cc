#include "core/codec/sparse/sparse_body.h"

#include <fmt/format.h>

#include <cstring>

#include "core/codec/device/codec_device.h"
#include "core/codec/finite.h"
#include "core/codec/sparse/device/device_loops.h"
#include "core/codec/sparse/select.h"

namespace tributary::sparse {
namespace {

constexpr std::size_t kCountBytes = sizeof(std::uint32_t);

// The count is written with memcpy, because a body is an array of bytes.
void put_count(std::size_t count, MutableByteSpan body) {
  const auto count32 = static_cast<std::uint32_t>(count);
  std::memcpy(body.data(), &count32, kCountBytes);
}

Result<std::uint32_t> read_count(const OpenPayload& payload) {
  ByteReader reader(payload.body);
  TRIBUTARY_ASSIGN(const auto count, reader.read<std::uint32_t>("count of a sparse payload"));
  if (count <= payload.header.values) return count;
  return Status(
      StatusCode::corrupt_data,
      {.what = "count of a sparse payload",
       .expected = fmt::format("at most {}, the size of the bucket", payload.header.values),
       .got = fmt::format("{}", count),
       .remedy = "have the bucket sent again"});
}

// Bodies begin at a multiple of kPayloadAlignment, so the values after the count are aligned to 4
// bytes.
float* values_of(MutableByteSpan body) {
  return reinterpret_cast<float*>(body.data() + kCountBytes);
}

// Writes the whole bucket with zeros for the values that were not selected.
template <typename ValueAt>
void write_all_values(const Execution& execution, const PayloadHeader& header,
                      std::span<const std::uint32_t> indices, const ValueAt& value_at,
                      Bytes& payload) {
  const MutableByteSpan body =
      start_payload(header, kCountBytes + header.values * sizeof(float), payload);
  put_count(header.values, body);
  float* const out = values_of(body);
  for_each_range(execution, indices, header.values,
                 [&](std::size_t begin, std::size_t end, std::size_t first, std::size_t last) {
                   std::memset(out + begin, 0, (end - begin) * sizeof(float));
                   for (std::size_t i = first; i < last; ++i) out[indices[i]] = value_at(i);
                 });
}

// value_at(i) is the value at indices[i].
template <typename ValueAt>
void write_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                  std::span<const std::uint32_t> indices, const ValueAt& value_at, Bytes& payload) {
  const std::size_t values = header.values;
  const IndexPlan plan = choice == IndexChoice::bitmap ? bitmap_plan(values)
                                                       : smallest_plan(execution, indices, values);
  // A body with many indices may be larger than all values without indices.
  const std::size_t sparse_bytes = indices.size() * sizeof(float) + plan.bytes;
  if (choice == IndexChoice::smallest && values * sizeof(float) <= sparse_bytes) {
    header.layout = static_cast<std::uint8_t>(IndexLayout::all);
    return write_all_values(execution, header, indices, value_at, payload);
  }
  header.layout = static_cast<std::uint8_t>(plan.layout);
  const MutableByteSpan body = start_payload(header, kCountBytes + sparse_bytes, payload);
  put_count(indices.size(), body);
  float* const out = values_of(body);
  for_each_chunk(execution, indices.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) out[i] = value_at(i);
                 });
  write_indices(execution, plan, indices, values, body.last(plan.bytes));
}

}  // namespace

void write_sparse_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                         std::span<const std::uint32_t> indices, std::span<const float> values,
                         Bytes& payload) {
  write_values(
      execution, header, choice, indices, [&](std::size_t i) { return values[indices[i]]; },
      payload);
}

void write_picked_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                         std::span<const std::uint32_t> indices, std::span<const float> picked,
                         Bytes& payload) {
  write_values(
      execution, header, choice, indices, [&](std::size_t i) { return picked[i]; }, payload);
}

// The count is checked against the bucket, and the body's size against the count, before anything
// is allocated.
Status read_sparse_values(const Execution& execution, const OpenPayload& payload,
                          SparseValues& sparse) {
  TRIBUTARY_ASSIGN(const std::uint32_t count, read_count(payload));
  const std::size_t before_indices = kCountBytes + std::size_t{count} * sizeof(float);
  if (payload.body.size() < before_indices) {
    return wrong_body_size("values of a sparse payload", before_indices, payload.body.size());
  }
  TRIBUTARY_TRY(read_indices(execution, payload.header.layout, payload.body.subspan(before_indices),
                             count, payload.header.values, sparse.indices));
  sparse.values = {reinterpret_cast<const float*>(payload.body.data() + kCountBytes), count};
  return check_finite_body(execution, sparse.values);
}

void write_index_set(const Execution& execution, PayloadHeader header,
                     std::span<const std::uint32_t> indices, Bytes& payload) {
  const IndexPlan plan = smallest_plan(execution, indices, header.values);
  header.layout = static_cast<std::uint8_t>(plan.layout);
  const MutableByteSpan body = start_payload(header, kCountBytes + plan.bytes, payload);
  put_count(indices.size(), body);
  write_indices(execution, plan, indices, header.values, body.last(plan.bytes));
}

Status read_index_set(const Execution& execution, const OpenPayload& payload,
                      IndexVector& indices) {
  TRIBUTARY_ASSIGN(const std::uint32_t count, read_count(payload));
  return read_indices(execution, payload.header.layout, payload.body.subspan(kCountBytes), count,
                      payload.header.values, indices);
}

void pick(const Execution& execution, std::span<const std::uint32_t> indices,
          std::span<const float> values, float* picked) {
  for_each_chunk(execution, indices.size(), kChunkValues,
                 [&](std::size_t, std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) picked[i] = values[indices[i]];
                 });
}

void scatter(const Execution& execution, std::span<const std::uint32_t> indices,
             const float* values, std::span<float> out) {
  for_each_range(execution, indices, out.size(),
                 [&](std::size_t begin, std::size_t end, std::size_t first, std::size_t last) {
                   std::memset(out.data() + begin, 0, (end - begin) * sizeof(float));
                   for (std::size_t i = first; i < last; ++i) out[indices[i]] = values[i];
                 });
}

void scatter_in_call(const StageCall& call, std::span<const std::uint32_t> indices,
                     const float* values, std::span<float> out) {
  const bool done = done_on_device(call, &CodecDevice::sparse, [&](DeviceLoops& device) {
    return device.scatter(indices, values, out);
  });
  if (!done) scatter(call.execution, indices, values, out);
}

Status check_finite_body(const Execution& execution, std::span<const float> values) {
  if (check_finite(execution, values).ok()) return {};
  return not_addable_error("values of a sparse payload", "finite numbers",
                           "NaN or Inf, which no encoder writes");
}

}  // namespace tributary::sparse
