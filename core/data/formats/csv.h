// Tables of numbers as CSV: a line per example, a column per feature, one column for what is to be
// learned. Quotes as in RFC 4180; a byte order mark, empty lines and \r\n do no harm.
#pragma once

#include <string>
#include <vector>

#include "core/data/data_set.h"

namespace tributary {

enum class CsvHeader : std::uint8_t {
  automatic,  // the first line is one if it holds something that is no number
  yes,
  no,
};

struct CsvOptions {
  CsvHeader header = CsvHeader::automatic;
  std::string label = {};     // a name in the header or a number from 1 on; the last one if empty
  std::uint32_t classes = 0;  // 0: a regression
  char separator = ',';
};

struct CsvLimits {
  std::uint32_t columns_max = 65536;
  std::uint64_t memory_bytes_max = std::uint64_t{1} << 30;
};

struct CsvTable {
  FeatureTable table;
  std::vector<std::string> names;  // of the columns without the label; empty without a header
  std::string label;
};

// Errors name line and column, both from 1 on.
Result<CsvTable> parse_csv(ByteSpan text, const CsvOptions& options, const CsvLimits& limits = {});

}  // namespace tributary
