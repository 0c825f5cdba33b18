// Failures of SQLite as Status values, with a remedy for the operator.
//
// Codes: unavailable (locked), resource_exhausted (disk full, out of memory, value too long),
// corrupt_data, io_error (system, permissions), mismatch (a constraint), and invalid_argument
// (wrong SQL or use).
#pragma once

#include <string_view>

#include "core/base/status.h"

struct sqlite3;

namespace tributary {

// The failure `code` of a call for the database in `file`, made while `doing` something. `database`
// is null if it could not be opened. The caller sets errno to 0 before the call.
Status sqlite_status(sqlite3* database, int code, std::string_view file, std::string_view doing);

// True if the same operation can succeed later, by itself or after space was freed: the file was
// locked, the disk full, or the operating system refused. False for corrupt data and wrong use.
bool worth_retrying(const Status& status);

}  // namespace tributary
