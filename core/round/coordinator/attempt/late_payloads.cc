#include "core/round/coordinator/attempt/late_payloads.h"

#include <utility>

#include "core/codec/error_feedback.h"
#include "core/codec/finite.h"
#include "core/round/common/plan/standalone_payload.h"

namespace tributary {

bool LatePayloads::smaller_than_sum(std::size_t more_bytes) const {
  std::size_t bytes = more_bytes;
  for (const Bytes& payload : kept_) bytes += payload.size();
  return sum_.empty() && bytes < bucket_.values * sizeof(float);
}

Status LatePayloads::add(std::uint32_t member, const StageCall& call, ByteSpan payload) {
  TRIBUTARY_TRY(keep(call, payload));
  members_.set(member);
  return {};
}

Status LatePayloads::keep(const StageCall& call, ByteSpan payload) {
  FloatVector values(bucket_.values);
  TRIBUTARY_TRY(decode_standalone(*bucket_.codec, call, payload, values));
  if (!within_magnitude(values, addend_max(call, 1))) {
    return beyond_addend_error("standalone payload", call, 1);
  }
  if (smaller_than_sum(payload.size())) {
    kept_.emplace_back(payload.begin(), payload.end());
    return {};
  }
  FloatVector decoded(kept_.empty() ? 0 : bucket_.values);
  for (const Bytes& kept : kept_) {
    TRIBUTARY_TRY(decode_standalone(*bucket_.codec, call, kept, decoded));
    add_values(call.execution, decoded, values);
  }
  if (!sum_.empty()) add_values(call.execution, sum_, values);
  kept_.clear();
  sum_ = std::move(values);
  return {};
}

Result<Bytes> LatePayloads::join_to(const StageCall& call, ByteSpan own) const {
  if (sum_.empty()) {
    return join_result({.own = own, .late = std::vector<ByteSpan>(kept_.begin(), kept_.end())});
  }
  TRIBUTARY_ASSIGN(const Bytes sum, encode_late_sum(call, sum_));
  return join_result({.own = own, .late = {sum}});
}

}  // namespace tributary
