// The bodies of this family.
//
//   sparse values                        indices alone
//     u32  count                           u32  count
//     f32  value, count times                   indices
//          indices
//
// Indices stand as indices.h tells, in the layout that the payload's header names. Where all values
// would take fewer bytes than the chosen ones with their indices, all of them are sent, the others
// as zeros (layout 3).
#pragma once

#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// Which layouts an encoder chooses from.
enum class IndexChoice : std::uint8_t { smallest, bitmap };

// A payload whose body holds values[indices]; `header.layout` is set here.
void write_sparse_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                         std::span<const std::uint32_t> indices, std::span<const float> values,
                         Bytes& payload);

struct SparseValues {
  IndexVector indices;
  std::span<const float> values;  // within the payload
};

// Checked: indices ascend within the bucket and values are finite.
Status read_sparse_values(const Execution& execution, const OpenPayload& payload,
                          SparseValues& sparse);

void write_index_set(const Execution& execution, PayloadHeader header,
                     std::span<const std::uint32_t> indices, Bytes& payload);

Status read_index_set(const Execution& execution, const OpenPayload& payload, IndexVector& indices);

// picked[i] = values[indices[i]]
void pick(const Execution& execution, std::span<const std::uint32_t> indices,
          std::span<const float> values, float* picked);

// Zeros, but for the given values at their places.
void scatter(const Execution& execution, std::span<const std::uint32_t> indices,
             const float* values, std::span<float> out);

// That all values of a body are finite.
Status check_finite_body(const Execution& execution, std::span<const float> values);

}  // namespace tributary::sparse
