#include "core/store/database/migrations.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

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

}  // namespace

Migrations::Migrations(const Schema& schema) : schema_(schema), learned_(learn_tables()) {}

Status Migrations::learn_tables() {
  tables_.emplace_back();  // a new file has none
  TRIBUTARY_ASSIGN(const std::unique_ptr<Database> model, Database::open_in_memory());
  for (const std::string_view step : schema_.steps) {
    TRIBUTARY_TRY(model->execute(std::string(step)));
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
    tables_.push_back(std::move(queries));
  }
  return {};
}

// A table or a column that is missing would otherwise look like a wrong query of ours.
Status Migrations::check_tables(Database& database, std::size_t version) const {
  if (version >= tables_.size()) return learned_;
  for (const auto& [table, query] : tables_[version]) {
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

Status Migrations::migrate(Database& database) const {
  TRIBUTARY_ASSIGN(const Marks marks, marks_of(database));
  TRIBUTARY_TRY(check_marks(marks, database, schema_));
  TRIBUTARY_TRY(check_tables(database, marks.version));
  for (std::size_t version = marks.version; version < schema_.steps.size(); ++version) {
    TRIBUTARY_TRY(take_step(database, schema_, version));
  }
  return {};
}

Result<std::uint32_t> Migrations::check_version(Database& database) const {
  TRIBUTARY_ASSIGN(const Marks marks, marks_of(database));
  TRIBUTARY_TRY(check_marks(marks, database, schema_));
  if (marks.version > 0) {
    TRIBUTARY_TRY(check_tables(database, marks.version));
    return marks.version;
  }
  return Status(StatusCode::unsupported,
                {.what = fmt::format("{} '{}'", schema_.what, database.path()),
                 .expected = fmt::format("version 1 to {}", schema_.steps.size()),
                 .got = "an empty file",
                 .remedy = "wait until its coordinator or agent has created it"});
}

}  // namespace tributary
