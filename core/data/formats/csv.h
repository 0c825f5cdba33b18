// Parser of CSV tables of numbers: one line per example, one column per feature, one column for the
// label or target. Quotes follow RFC 4180. A byte order mark, empty lines and \r\n line ends are
// accepted.
//
// The table is held in memory as float32. The parser has no state and may be called from any
// thread.
#pragma once

#include <string>
#include <vector>

#include "core/data/data_set.h"
#include "core/data/formats/stored_examples.h"

namespace tributary {

// Whether the first line of the table is a header.
enum class CsvHeader : std::uint8_t {
  automatic,  // the first line is a header if any of its fields is not a number
  yes,
  no,
};

// The meaning of a table's columns.
struct CsvOptions {
  CsvHeader header = CsvHeader::automatic;
  // A name in the header, or a column number from 1; empty: the last column.
  std::string label = {};
  std::uint32_t classes = 0;  // 0: a regression with one target
  char separator = ',';
  // Scales of the feature columns: one for all, or one for each; empty: values stay as they are.
  std::vector<FeatureScale> scales = {};
};

// Bounds that protect against damaged or wrongly separated files.
struct CsvLimits {
  std::uint32_t columns_max = 65536;
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
};

// The parsed table and its column names.
struct CsvTable {
  FeatureTable table;
  std::vector<std::string> names;  // feature columns, without the label; empty without a header
  // Name of the label column; empty without a header.
  std::string label;
};

// Fails with invalid_argument (options), mismatch (number of scales), not_found (label column),
// corrupt_data (content) or resource_exhausted (limits). Errors in the content name line and
// column, both counted from 1.
Result<CsvTable> parse_csv(ByteSpan text, const CsvOptions& options, const CsvLimits& limits = {});

}  // namespace tributary
