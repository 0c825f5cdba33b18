// The mark of a coordinator's journal that was closed: everything is in the file. Without the mark
// the write-ahead log beside the file belongs to it, and a file without its log may lack rounds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/store/database/database.h"

namespace tributary {

// Schema version that introduced the mark.
inline constexpr std::uint32_t kClosedMarkSince = 4;

// In a transaction of the caller, or in one of its own. The next opening of the journal ends it.
Status mark_closed(Database& database, std::int64_t now_wall_ns);

// Whether the file was not closed and no log is beside it: it was copied without its log, or
// another program has moved the log's content into the file. Only for files with the mark.
Result<bool> is_log_missing(Database& database);

// For people: what is missing and what to do.
std::string log_missing_text(std::string_view path);

}  // namespace tributary
