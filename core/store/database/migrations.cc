#include "core/store/database/migrations.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/store/database/restored.h"

namespace tributary {
namespace {

// The identity of a file: SQLite's application id and user version. A new file has neither.
struct Marks {
  std::uint32_t application_id = 0;
  std::uint32_t version = 0;
  bool empty = false;
};

Result<Marks> marks_of(Database& database) {
  Marks marks;
  std::int64_t tables = 0;
  for (const Result<bool>& read :
       {database.first("PRAGMA application_id", std::tie(marks.application_id)),
        database.first("PRAGMA user_version", std::tie(marks.version)),
        database.first("SELECT count(*) FROM sqlite_schema", std::tie(tables))}) {
    TRIBUTARY_TRY(read.status());
  }
  marks.empty = tables == 0 && marks.version == 0 && marks.application_id == 0;
  return marks;
}

// Never migrates back: an older build cannot know what a newer one means by its tables.
Status check_marks(const Marks& marks, const Database& database, const Schema& schema) {
  if (marks.empty) return {};
  if (marks.application_id != schema.application_id) {
    return Status(StatusCode::mismatch,
                  {.what = fmt::format("database '{}'", database.path()),
                   .expected = fmt::format("a {}", schema.what),
                   .got = fmt::format("application id {:08x}", marks.application_id),
                   .remedy = "name the right file, or a new file"});
  }
  if (marks.version > schema.steps.size()) {
    return Status(StatusCode::unsupported,
                  {.what = fmt::format("{} '{}'", schema.what, database.path()),
                   .expected = fmt::format("version {} at most", schema.steps.size()),
                   .got = fmt::format("version {}", marks.version),
                   .remedy = "a newer build wrote it: use that one, or name a new file"});
  }
  return {};
}

// The marks change in the same transaction as the tables.
Status take_step(Database& database, const Schema& schema, std::size_t version) {
  TRIBUTARY_ASSIGN(Transaction transaction, Transaction::begin(database));
  TRIBUTARY_TRY(database.execute(std::string(schema.steps[version])));
  TRIBUTARY_TRY(database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                             schema.application_id, version + 1)));
  return transaction.commit();
}

// For each table of this version, a query that names all its columns.
using TableQueries = std::map<std::string, std::string>;

// The columns come from an empty database in memory that takes the same steps.
Result<TableQueries> make_table_queries(const Schema& schema, std::size_t version) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<Database> model, Database::open_in_memory());
  for (std::size_t step = 0; step < version; ++step) {
    TRIBUTARY_TRY(model->execute(std::string(schema.steps[step])));
  }
  TableQueries queries;
  const auto add = [&](Rows& row) -> Status {
    std::string table;
    std::string column;
    TRIBUTARY_TRY(row.read(table, column));
    std::string& query = queries[table];
    query += fmt::format("{} \"{}\"", query.empty() ? "SELECT" : ",", column);
    return {};
  };
  TRIBUTARY_TRY(
      model->each("SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c "
                  "WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%'",
                  add));
  for (auto& [table, query] : queries) query += fmt::format(" FROM \"{}\" LIMIT 0", table);
  return queries;
}

// The queries are made once for each sequence of steps. Thread-safe.
Result<TableQueries> table_queries(const Schema& schema, std::size_t version) {
  static std::mutex mutex;
  static std::map<std::string, TableQueries> known;
  std::string steps;
  for (std::size_t step = 0; step < version; ++step) steps += schema.steps[step];
  const std::lock_guard lock(mutex);
  const auto found = known.find(steps);
  if (found != known.end()) return found->second;
  TRIBUTARY_ASSIGN(TableQueries queries, make_table_queries(schema, version));
  return known[std::move(steps)] = std::move(queries);
}

// A table or a column that is missing would otherwise look like a wrong query of ours.
Status check_tables(Database& database, const Schema& schema, std::size_t version) {
  TRIBUTARY_ASSIGN(const TableQueries queries, table_queries(schema, version));
  for (const auto& [table, query] : queries) {
    const Status status = database.execute(query);
    if (status.code() != StatusCode::invalid_argument) {
      TRIBUTARY_TRY(status);
      continue;
    }
    return damaged_journal(database.path(), fmt::format("table {}", table),
                           fmt::format("the columns of version {}", version), status.text());
  }
  return {};
}

}  // namespace

Status migrate(Database& database, const Schema& schema) {
  TRIBUTARY_ASSIGN(const Marks marks, marks_of(database));
  TRIBUTARY_TRY(check_marks(marks, database, schema));
  TRIBUTARY_TRY(check_tables(database, schema, marks.version));
  for (std::size_t version = marks.version; version < schema.steps.size(); ++version) {
    TRIBUTARY_TRY(take_step(database, schema, version));
  }
  return {};
}

Result<std::uint32_t> check_version(Database& database, const Schema& schema) {
  TRIBUTARY_ASSIGN(const Marks marks, marks_of(database));
  TRIBUTARY_TRY(check_marks(marks, database, schema));
  if (marks.version > 0) {
    TRIBUTARY_TRY(check_tables(database, schema, marks.version));
    return marks.version;
  }
  return Status(StatusCode::unsupported,
                {.what = fmt::format("{} '{}'", schema.what, database.path()),
                 .expected = fmt::format("version 1 to {}", schema.steps.size()),
                 .got = "an empty file",
                 .remedy = "wait until its coordinator or agent has created it"});
}

}  // namespace tributary
