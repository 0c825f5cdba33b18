// The codecs of the closed loop, with declared sizes, CPU times and gains. A measurement would
// depend on the machine and on its load.
//
// The figures are those of kPlannedCodecs for synthetic gradients on one core, rounded, as
// `tributary plan pareto --alpha-ms 10 --gbps 0.01 --params 101770 --agents 4 --json` printed them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/plan/inputs/inputs.h"

namespace tributary {

// As the coordinator measures them.
std::vector<PlanCodec> declared_codecs();
// As every agent reports them: the gain of keeping a share of the values, and that of the codecs
// whose gain follows from the norms of the update.
GainPoints declared_curve();
std::map<std::string, double> declared_known_gains();

// Whether the payload size depends on the values.
bool size_depends_on_values(const std::string& spec);

}  // namespace tributary
