// The runs of an agent's journal: one row for each process that has opened it. They say whether a
// power failure may have undone records, which the agent must not act on as if they were complete.
//
// All functions work on the last row, in a transaction of the caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/store/database/database.h"
#include "core/store/durability/durability.h"

namespace tributary {

// The step to version 5. The columns are NULL in the rows of earlier versions.
constexpr std::string_view kAgentRunColumns =
    "ALTER TABLE runs ADD COLUMN boot_id TEXT;"            // of the machine's start
    "ALTER TABLE runs ADD COLUMN durability TEXT;"         // as in the settings
    "ALTER TABLE runs ADD COLUMN closed_wall_ns INTEGER;"  // NULL: not closed
    "ALTER TABLE runs ADD COLUMN residual_dropped REAL;";  // its norm; NULL: none was dropped

// Enters how this process uses the journal.
Status note_run(Database& database, const std::string& boot_id, Durability durability);
// Whether a power failure may have undone records: the process before this one did not close the
// journal, did not make each record durable, and ran before the machine's last start. False for
// processes of earlier versions.
Result<bool> may_lack_records(Database& database, const std::string& boot_id);
// The process has dropped a residual of this norm, because records may be missing.
Status note_residual_dropped(Database& database, double norm);
Result<std::uint64_t> count_residuals_dropped(Database& database);
// All records are durable with this transaction.
Status note_closed(Database& database, std::int64_t now_wall_ns);

}  // namespace tributary
