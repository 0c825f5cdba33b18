#include "coordinator/journal/log_copier.h"

namespace tributary {

// With less than DatabaseOptions::sync a copy still syncs the log before and the file after it.
Result<std::unique_ptr<LogCopier>> LogCopier::open(const std::string& file, const Clock& clock,
                                                   std::function<void(const Pass&)> done) {
  TRIBUTARY_ASSIGN(std::unique_ptr<Database> database, Database::open(file, {.sync = false}));
  return std::unique_ptr<LogCopier>(new LogCopier(std::move(database), clock, std::move(done)));
}

void LogCopier::copy() {
  const std::chrono::nanoseconds began = clock_.now();
  const Result<WriteAheadLog::Copied> copied = database_->log().copy_counted();
  Pass pass{.status = copied.status(),
            .copied = copied.ok() ? *copied : WriteAheadLog::Copied(),
            .took = clock_.now() - began};
  done_(pass);
}

}  // namespace tributary
