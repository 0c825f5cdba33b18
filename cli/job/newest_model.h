// The newest model of a job, out of a coordinator's journal: its checkpoint, and all that was
// committed since, applied as a coordinator that starts would do it, hashes compared.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

struct NewestModel {
  std::uint64_t version = 0;  // the round it was committed by; 0: as it began
  std::uint64_t hash = 0;
  SharedFloats values;
};

// Of a coordinator that may be running meanwhile: the model of one moment.
Result<NewestModel> newest_model(RunFile& run, std::uint64_t job);

}  // namespace tributary
