// One transaction of a database and of the file with its large chunks.
#pragma once

#include <functional>
#include <memory>

#include "core/base/status.h"
#include "core/store/database/database.h"
#include "core/store/database/vectors/vector_file.h"

namespace tributary {

// Runs `change` and commits. If it fails, or the commit does, nothing is stored. `change` may open
// the file. With `sync_vectors`, the file is synced before the commit, so that a durable row refers
// to durable bytes.
Status in_transaction(Database& database, const std::unique_ptr<VectorFile>& vectors,
                      bool sync_vectors, const std::function<Status()>& change);

}  // namespace tributary
