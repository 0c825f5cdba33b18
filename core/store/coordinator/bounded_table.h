// Limits the rows, bytes and age of a table by deleting its oldest rows.
//
// It owns nothing in the file but knows its size since the last forget(). The caller holds the
// transaction; an error leaves it to be rolled back. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/database.h"

namespace tributary {

// The table must have an AUTOINCREMENT key and a column at_wall_ns. The size is counted
// incrementally, so trim() costs time in proportion to the rows that were added and deleted.
class BoundedTable {
 public:
  // row_bytes: an SQL expression for the size of a row in bytes.
  BoundedTable(std::string_view name, std::string_view key, std::string_view row_bytes,
               const TableLimits& limits);

  // Call it after adding rows, in the same transaction.
  Status trim(Database& database, std::int64_t now_wall_ns);
  // Discards the counted size, which may be wrong after a failed transaction.
  void forget() { size_ = Size(); }

 private:
  struct Size {
    std::int64_t last_key = 0;
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0;
  };

  Status count_new_rows(Database& database);
  Status drop_up_to(Database& database, std::int64_t key);
  Result<std::optional<std::int64_t>> key_of_oldest(Database& database, std::uint64_t rows);

  std::string count_;
  std::string count_old_;
  std::string delete_;
  std::string oldest_;
  std::string first_young_;
  TableLimits limits_;
  Size size_;  // size of the rows up to last_key
};

}  // namespace tributary
