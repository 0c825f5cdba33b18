// How a database comes to have the tables that this build works with: by steps from one version to
// the next, never back.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/status.h"
#include "core/store/database/database.h"

namespace tributary {

struct Schema {
  std::string_view what;             // "coordinator's journal"
  std::uint32_t application_id = 0;  // SQLite's mark in the file's header
  // steps[n] is the SQL that leads from version n to version n + 1. Released ones never change.
  std::span<const std::string_view> steps;
};

// Takes an empty file, or an older version, to the newest. Each step is a transaction of its own:
// what ends in the middle goes on from there. Refuses what is newer or something else.
Status migrate(Database& database, const Schema& schema);

// For those who cannot write: that it is this version or an older one, and which.
Result<std::uint32_t> check_version(Database& database, const Schema& schema);

}  // namespace tributary
