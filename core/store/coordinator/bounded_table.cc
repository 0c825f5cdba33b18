#include "core/store/coordinator/bounded_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {

// All statements are built once; parameters are keys.
BoundedTable::BoundedTable(std::string_view name, std::string_view key, std::string_view row_bytes,
                           const TableLimits& limits)
    : limits_(limits) {
  const std::string sums = fmt::format("count(*), coalesce(sum({}), 0)", row_bytes);
  count_ =
      fmt::format("SELECT coalesce(max({1}), ?1), {2} FROM {0} WHERE {1} > ?1", name, key, sums);
  count_old_ = fmt::format("SELECT {2} FROM {0} WHERE {1} <= ?", name, key, sums);
  delete_ = fmt::format("DELETE FROM {0} WHERE {1} <= ?", name, key);
  oldest_ = fmt::format("SELECT {1} FROM {0} ORDER BY {1} LIMIT 1 OFFSET ?", name, key);
  first_young_ =
      fmt::format("SELECT {1} FROM {0} WHERE at_wall_ns >= ? ORDER BY {1} LIMIT 1", name, key);
}

Status BoundedTable::trim(Database& database, std::int64_t now_wall_ns) {
  TRIBUTARY_TRY(count_new_rows(database));
  if (size_.rows > limits_.rows_max) {
    TRIBUTARY_ASSIGN(const auto key, key_of_oldest(database, size_.rows - limits_.rows_max));
    if (key) TRIBUTARY_TRY(drop_up_to(database, *key));
  }
  while (size_.bytes > limits_.bytes_max && size_.rows > 0) {
    // Deletes a sixteenth at a time, because rows differ in size.
    TRIBUTARY_ASSIGN(const auto key, key_of_oldest(database, size_.rows / 16 + 1));
    TRIBUTARY_TRY(drop_up_to(database, key.value_or(size_.last_key)));
    if (!key) break;
  }
  // Rows are in the order of their dates, unless the clock was set back.
  std::int64_t first_young = size_.last_key + 1;
  TRIBUTARY_TRY(
      database.first(first_young_, std::tie(first_young), now_wall_ns - limits_.age_ns_max)
          .status());
  return drop_up_to(database, first_young - 1);
}

// Keys are ascending, so new rows are those after the last key that was counted.
Status BoundedTable::count_new_rows(Database& database) {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::int64_t last_key = 0;
  TRIBUTARY_TRY(database.first(count_, std::tie(last_key, rows, bytes), size_.last_key).status());
  size_.last_key = last_key;
  size_.rows += rows;
  size_.bytes += bytes;
  return {};
}

// Counts the rows before it deletes them, to keep the size right.
Status BoundedTable::drop_up_to(Database& database, std::int64_t key) {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  TRIBUTARY_TRY(database.first(count_old_, std::tie(rows, bytes), key).status());
  if (rows == 0) return {};
  TRIBUTARY_TRY(database.run(delete_, key));
  size_.rows -= std::min(rows, size_.rows);
  size_.bytes -= std::min(bytes, size_.bytes);
  return {};
}

// The key of the row number `rows` from the oldest on; empty if there are fewer rows.
Result<std::optional<std::int64_t>> BoundedTable::key_of_oldest(Database& database,
                                                                std::uint64_t rows) {
  std::int64_t key = 0;
  TRIBUTARY_ASSIGN(const bool found, database.first(oldest_, std::tie(key), rows - 1));
  return found ? std::optional(key) : std::nullopt;
}

}  // namespace tributary
