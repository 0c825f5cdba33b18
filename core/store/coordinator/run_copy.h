// Copies a coordinator's journal to one file, also while the coordinator writes it.
//
// The copy is complete without a log and with the rounds beside the journal (recent_rounds.h). It
// is the journal of one moment: one read transaction lasts as long as the copying, and the log of
// a live journal grows meanwhile.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/status.h"
#include "core/store/coordinator/missing_rounds.h"
#include "core/store/database/database.h"

namespace tributary {

struct RunCopyOptions {
  std::string run_file;
  std::string copy;
  bool replace = false;  // an existing file; a journal in use is never replaced
  // Returns false to stop; null: none.
  CopyProgress progress = nullptr;
};

struct RunCopied {
  std::uint64_t jobs = 0;
  std::uint64_t rounds = 0;  // committed rounds of all jobs
  std::uint64_t bytes = 0;
  std::uint64_t rounds_beside = 0;  // of them, those that were not in the run's file yet
  // Those that the copy does not have either. It says so itself if the log was missing.
  MissingRounds missing;
  // Bytes of aggregators' residuals that could not be read. The coordinator that opens the copy
  // takes them as zeros and says so.
  std::uint64_t residual_bytes_missing = 0;
};

// The copy appears when it is complete. After an error an existing file is unchanged, except that
// its log is gone if only the last step, the renaming, has failed: a log must never stand beside
// another file. SIGKILL can leave a file COPY.PROCESS.tmp. Only the owner can read the copy. Fails
// with already_exists, invalid_argument (the same file), cancelled, and as RunFile and Database do.
Result<RunCopied> copy_run(const RunCopyOptions& options);

}  // namespace tributary
