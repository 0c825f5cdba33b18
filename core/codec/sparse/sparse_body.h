// Writes and reads the bodies of sparse payloads.
//
//   sparse values                        indices alone
//     u32  count                           u32  count
//     f32  value, count times                   indices
//          indices
//
// The header of the payload names the layout of the indices (indices.h). If all values take fewer
// bytes than the selected ones with their indices, all are sent, with zeros for the values that
// were not selected (layout 3). Functions that read trust nothing in the payload. They return
// not_finite for NaN and Inf, and corrupt_data for anything else. All functions are pure.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/bytes/bytes.h"
#include "core/codec/codec.h"
#include "core/codec/payload.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// The layouts from which an encoder chooses.
enum class IndexChoice : std::uint8_t { smallest, bitmap };

// Starts a payload whose body holds values[indices]. Sets the layout in the header. The caller
// seals the payload.
void write_sparse_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                         std::span<const std::uint32_t> indices, std::span<const float> values,
                         Bytes& payload);

// Does the same with the selected values alone: picked[i] is the value at indices[i]. header.values
// is the size of the bucket.
void write_picked_values(const Execution& execution, PayloadHeader header, IndexChoice choice,
                         std::span<const std::uint32_t> indices, std::span<const float> picked,
                         Bytes& payload);

// A sparse body after it was read.
struct SparseValues {
  IndexVector indices;
  std::span<const float> values;  // points into the payload
};

// Reads and checks a body: indices are ascending and within the bucket, and values are finite.
Status read_sparse_values(const Execution& execution, const OpenPayload& payload,
                          SparseValues& sparse);

// Starts a payload with indices only. header.values is the size of the bucket; the caller seals the
// payload.
void write_index_set(const Execution& execution, PayloadHeader header,
                     std::span<const std::uint32_t> indices, Bytes& payload);

// Reads and checks a body with indices only.
Status read_index_set(const Execution& execution, const OpenPayload& payload, IndexVector& indices);

// Sets picked[i] = values[indices[i]].
void pick(const Execution& execution, std::span<const std::uint32_t> indices,
          std::span<const float> values, float* picked);

// Sets all of `out` to zero, except for the given values at their indices.
void scatter(const Execution& execution, std::span<const std::uint32_t> indices,
             const float* values, std::span<float> out);

// scatter() on the device of the call, or else on the host.
void scatter_in_call(const StageCall& call, std::span<const std::uint32_t> indices,
                     const float* values, std::span<float> out);

// Returns not_finite if any value of a body is NaN or Inf.
Status check_finite_body(const Execution& execution, std::span<const float> values);

}  // namespace tributary::sparse
