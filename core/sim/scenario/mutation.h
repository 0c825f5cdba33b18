// Planted bugs. The tests of the simulator let a host misbehave in order to show that the checks
// detect it. The state machines and the journals stay unchanged.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/round/agent/agent.h"
#include "core/round/common/machine/records.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The bug that a simulation has; `none` is the normal case.
enum class Mutation : std::uint8_t {
  none,
  // The coordinator is informed that a commit is stored before it is. It publishes the commit,
  // agents apply it, and a crash loses it.
  apply_before_commit,
  // An agent that a commit leaves out is informed that it contributed, and drops its update.
  drop_straggler,
  // One in three residuals is not written to the journal, which keeps the previous one.
  skip_residual_write,
  // An agent is informed that its contribution is stored before it is. It confirms that to the
  // others, and a crash loses it.
  vote_before_store,
  // One in three records of an exchange among peers lacks the error of the agent's own encoding.
  forget_error,
  // One in three messages with a payload between agents and coordinator is sent twice.
  repeat_payloads,
};

// In the order of Mutation.
inline constexpr std::array<std::string_view, 7> kMutationNames = {"none",
                                                                   "apply_before_commit",
                                                                   "drop_straggler",
                                                                   "skip_residual_write",
                                                                   "vote_before_store",
                                                                   "forget_error",
                                                                   "repeat_payloads"};

// For drop_straggler: returns a Commit with member `index` added to every set of contributors, and
// any other frame unchanged.
Bytes with_contributor(Bytes frame, std::uint32_t index);

// For forget_error: removes the error from some records.
class ErrorForgetter {
 public:
  void apply(AgentRecordToStore& record);

 private:
  std::uint32_t count_ = 0;
};

// For skip_residual_write: some records get the residual that was stored before.
class ResidualSkipper {
 public:
  void apply(AgentRecordToStore& record);

 private:
  SharedFloats last_;
  std::uint32_t count_ = 0;
};

}  // namespace tributary
