// Rounds of a run that are not in the file of its journal. Readers of the file say so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/store/database/database.h"

namespace tributary {

struct MissingRounds {
  // The file was probably copied without its write-ahead log (closed_mark.h), which may have
  // rounds.
  bool log_missing = false;
  // Committed rounds of all jobs that are in the journal beside the file (recent_rounds.h).
  std::uint64_t beside = 0;
  // They may be damaged: the machine was started anew since they were written.
  bool beside_may_be_damaged = false;
  // The journal beside the file exists, but could not be read.
  bool beside_unreadable = false;

  bool any() const { return log_missing || beside > 0 || beside_unreadable; }
  // For people: what is missing from the file at `path`, and what to do. Empty: nothing is.
  std::string text(std::string_view path) const;
  friend bool operator==(const MissingRounds&, const MissingRounds&) = default;
};

// Looks for rounds that the run's file lacks now. Errors are those of reading the file itself.
Result<MissingRounds> missing_rounds(Database& run, std::uint32_t version);

// The journal beside the run's file, for its readers. Fails with not_found if there is none.
Result<std::unique_ptr<Database>> open_rounds_beside(Database& run);

}  // namespace tributary
