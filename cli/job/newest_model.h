// Restores the newest model of a job from a coordinator's journal: the checkpoint, plus all rounds
// committed since, applied as by a coordinator at its start. Hashes are verified.
//
// Fails with corrupt_data if a repeated round does not give its stored hash. One thread; the file
// must outlive the call only.
#pragma once

#include <cstdint>

#include "core/base/status.h"
#include "core/round/common/machine/records.h"
#include "core/store/coordinator/run_file.h"

namespace tributary {

struct NewestModel {
  std::uint64_t version = 0;  // the round that committed it; 0: the initial model
  std::uint64_t hash = 0;
  SharedFloats values;
};

// The coordinator may be running; the result is the model at one point in time. Fails with
// not_found without such a job. Cost: one pass over the rounds since the checkpoint, and memory for
// the model.
Result<NewestModel> newest_model(RunFile& run, std::uint64_t job);

}  // namespace tributary
