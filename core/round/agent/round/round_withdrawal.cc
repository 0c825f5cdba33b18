#include "core/round/agent/round/round_withdrawal.h"

#include <memory>

namespace tributary {

wire::AbortReason abort_reason_of(const Status& status) {
  return status.code() == StatusCode::not_finite ? wire::AbortReason::not_finite
                                                 : wire::AbortReason::failure;
}

void RoundWithdrawal::withdraw(AgentRound& round, wire::AbortReason reason,
                               const Status& status) const {
  round.withdraw();
  session_.ask([key = round.key(), reason, text = status.text()] {
    wire::AbortT abort;
    abort.id = std::make_unique<wire::RoundId>(wire_id(key));
    abort.first_round = key.round;
    abort.reason = reason;
    abort.text = text.substr(0, wire::kTextBytesMax);
    return frame_with(std::move(abort));
  });
}

}  // namespace tributary
