// Brings a database to the tables of this build, in steps from one version to the next and never
// back.
//
// Needs the only writing connection to the file. The cost is that of the SQL in the steps: columns
// are added without rewriting rows.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "core/store/database/database.h"

namespace tributary {

// The tables of a kind of file, as the steps that lead to them.
struct Schema {
  std::string_view what;             // "coordinator's journal"
  std::uint32_t application_id = 0;  // SQLite's application id in the file header
  // steps[n] is the SQL from version n to version n + 1. Released steps never change.
  std::span<const std::string_view> steps;
};

// Runs the steps in an empty database in memory once, to know the columns of every version; this
// takes milliseconds. The views of the schema must outlive the object. Thread-safe.
class Migrations {
 public:
  explicit Migrations(const Schema& schema);

  // Migrates an empty or older file to the newest version. Each step is a transaction, so an
  // interrupted migration continues from its last step. Fails with unsupported (a newer version),
  // mismatch (another application's file) or corrupt_data (a table or a column of its version is
  // missing).
  Status migrate(Database& database) const;

  // For read-only users: returns the version, if it is this build's or an older one. An empty file
  // is unsupported. Fails as migrate() does.
  Result<std::uint32_t> check_version(Database& database) const;

 private:
  // For each table of a version, a query that names all its columns.
  using TableQueries = std::map<std::string, std::string>;

  Status learn_tables();
  Status check_tables(Database& database, std::size_t version) const;

  Schema schema_;
  std::vector<TableQueries> tables_;  // by version, up to the first step that cannot be run
  Status learned_;                    // why there are no further ones
};

}  // namespace tributary
