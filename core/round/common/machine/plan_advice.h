// A planner's decision for the rounds of a job, with its reason and its inputs. The planner itself
// is in core/plan; the state machine only applies the decision, from the next round on.
//
// Plain values. The machine checks a decision before it applies it (AdvicePolicy): an impossible
// codec, a missing trigger or a ratio out of range leads to a note and to the job's own policy,
// never to an aborted round.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "schemas/frame_generated.h"

namespace tributary {

// The parts of a round that a planner chooses.
struct RoundChoice {
  std::string codec;
  wire::Collective collective = wire::Collective::star;
  std::uint64_t bucket_values_max = 0;

  friend bool operator==(const RoundChoice&, const RoundChoice&) = default;
};

// A decision. It is immutable once it is handed to the machine.
struct PlanAdvice {
  RoundChoice choice;
  // Share of the values that an agent keeps, by agent id, for agents that keep less than the
  // codec's ratio. Only for the star and for codecs that allow a share per agent.
  std::map<std::string, double> ratios;
  // The decision is refused if it stays unspecified.
  wire::Trigger trigger = wire::Trigger::unspecified;
  std::string sentence;  // the reason
  // All candidates; one of them is the choice.
  std::vector<wire::AlternativeT> alternatives;
  Bytes inputs;        // all inputs of the decision, for the journal
  double pause_s = 0;  // pause after every round
  // Codecs that agents measure in the next round, and the time limit for each agent.
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

}  // namespace tributary
