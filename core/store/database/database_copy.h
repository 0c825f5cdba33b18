// Copies a database page by page, also while another process writes it.
#pragma once

#include <functional>

#include "core/base/status.h"
#include "core/store/database/database.h"

namespace tributary {

// Replaces the content of `to`, which is new and has the page size of `from`, by that of `from` at
// one moment. One read transaction on `from` lasts as long as the copying. `first` reads what else
// belongs to that moment, at the beginning of the transaction; if it fails, `to` is still empty.
// Fails with cancelled if `progress` returns false, and as Database and `first` do; `to` is then
// unusable.
Status copy_database(Database& from, Database& to, const CopyProgress& progress,
                     const std::function<Status()>& first);

}  // namespace tributary
