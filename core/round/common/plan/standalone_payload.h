// A standalone payload: one agent has encoded its values through all stages of a codec, as if it
// were the only agent. It decodes without the payloads of other agents, so that any later round can
// count it, and travels beside the sum of that round.
//
// A standalone payload, and a result that contains such payloads:
//
//   u32  "TRSA"                             u32  "TRLR"
//   u32  zero                               u32  number of late payloads
//   u64  round in which it was encoded
//        payload of each stage                   the codec's own result, which may be empty, and
//                                                then the late payloads
//
// Several payloads are side by side (core/collective/side_by_side.h). A late payload is a
// standalone payload, or the sum of several ones as a payload of fp32. The functions are pure and
// trust no payload: damage gives corrupt_data.
#pragma once

#include <span>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary {

// Encodes the values of the call's bucket, with memory for that bucket only. The call's agents and
// combined payloads are not used. Returns the codec's error.
Result<Bytes> encode_standalone(const Codec& codec, const StageCall& call,
                                std::span<const float> values);
bool is_standalone(ByteSpan payload);
// Writes the values of a standalone payload. The call names the bucket; its round is not used.
Status decode_standalone(const Codec& codec, StageCall call, ByteSpan payload,
                         std::span<float> values);

// The payloads of a result; they point into it.
struct ResultPayloads {
  ByteSpan own;  // combined by the codec; empty if all contributors are late
  std::vector<ByteSpan> late;
};
Bytes join_result(const ResultPayloads& payloads);
// A result without late payloads is the codec's own.
Result<ResultPayloads> split_result(ByteSpan result);
// The combined payloads of all stages, the last one without late payloads. The codec's own part of
// a damaged result is empty.
std::vector<ByteSpan> own_results(std::vector<ByteSpan> combined);

// Writes the sum of late payloads' values as one payload.
Result<Bytes> encode_late_sum(const StageCall& call, std::span<const float> sum);
// Writes the values of a late payload.
Status decode_late(const Codec& codec, const StageCall& call, ByteSpan payload,
                   std::span<float> values);

}  // namespace tributary
