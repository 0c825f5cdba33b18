// What a planner advises for a job's rounds, and what it is told to advise from. The planner itself
// is elsewhere (core/plan): the machine only does as advised, from the next round on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "schemas/frame_generated.h"

namespace tributary {

// How rounds are carried out, where the job leaves it open.
struct RoundChoice {
  std::string codec;
  wire::Collective collective = wire::Collective::star;
  std::uint64_t bucket_values_max = 0;

  friend bool operator==(const RoundChoice&, const RoundChoice&) = default;
};

struct PlanAdvice {
  RoundChoice choice;
  // By agent: the share that it keeps, where that is less than the codec's. Only by the star, and
  // of codecs that let agents keep shares of their own.
  std::map<std::string, double> ratios;
  wire::Trigger trigger = wire::Trigger::unspecified;  // must be given: it is refused as it is
  std::string sentence;                                // why
  // What there was to choose from; one of them is chosen.
  std::vector<wire::AlternativeT> alternatives;
  Bytes inputs;        // everything it was made from, for the journal
  double pause_s = 0;  // after every round
  // Codecs that agents are to try in the next round, and how long each may take for them.
  std::vector<std::string> trials = {};
  double trial_s = 0;
};

}  // namespace tributary
