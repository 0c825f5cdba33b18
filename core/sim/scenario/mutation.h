// Planted bugs: what tests of the simulator make the rim do wrong, so that it is known to notice.
// The state machines and the journals stay what they are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/round/agent/agent.h"
#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

enum class Mutation : std::uint8_t {
  none,
  // The coordinator is told that a commit is stored before it is: it publishes, agents apply, and a
  // crash forgets.
  apply_before_commit,
  // An agent that a commit leaves out is told that it is in: it drops its update.
  drop_straggler,
  // One in three residuals is not written to the journal: the one before stays there.
  skip_residual_write,
  // An agent is told that what it contributes is stored before it is: it says so to the others, and
  // a crash forgets.
  vote_before_store,
  // One in three records of an exchange among peers has nothing of the error that the agent's own
  // encoding left.
  forget_error,
  // One in three messages with a payload between agents and coordinator is sent twice.
  repeat_payloads,
};

inline constexpr std::array<std::string_view, 7> kMutationNames = {"none",
                                                                   "apply_before_commit",
                                                                   "drop_straggler",
                                                                   "skip_residual_write",
                                                                   "vote_before_store",
                                                                   "forget_error",
                                                                   "repeat_payloads"};

// For drop_straggler: the frame with member `index` in every set of contributors, where it is a
// Commit; otherwise as it is.
Bytes with_contributor(Bytes frame, std::uint32_t index);

// For forget_error.
class ErrorForgetter {
 public:
  void apply(AgentRecordToStore& record);

 private:
  std::uint32_t count_ = 0;
};

// For skip_residual_write: the residual of some records is the one that was stored before.
class ResidualSkipper {
 public:
  void apply(AgentRecordToStore& record);

 private:
  SharedFloats last_;
  std::uint32_t count_ = 0;
};

}  // namespace tributary
