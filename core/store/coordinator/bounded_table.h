// A table of which the oldest rows go when it is too long, too large or too old.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"
#include "core/store/coordinator/telemetry_rows.h"
#include "core/store/database/database.h"

namespace tributary {

// Its key must be AUTOINCREMENT, and it must have a column at_wall_ns.
class BoundedTable {
 public:
  // row_bytes: SQL that says how large a row is.
  BoundedTable(std::string_view name, std::string_view key, std::string_view row_bytes,
               const TableLimits& limits);

  // To be called after rows were added, in the same transaction.
  Status trim(Database& database, std::int64_t now_wall_ns);
  // What is known of the table's size may be wrong: the transaction failed.
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
  Size size_;  // of the rows up to last_key
};

}  // namespace tributary
