// Fuzzes tables: byte 0 chooses header, separator and task, the rest is the file. A text that
// parses must give a consistent table of finite numbers.
#include <cmath>
#include <cstdlib>

#include "core/data/formats/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size == 0) return 0;
  const CsvOptions options{.header = static_cast<CsvHeader>(data[0] % 3),
                           .classes = data[0] & 4 ? 3u : 0u,
                           .separator = data[0] & 8 ? ';' : ','};
  const CsvLimits limits{.columns_max = 100, .memory_bytes_max = 4000};
  auto csv = parse_csv({data + 1, size - 1}, options, limits);
  if (!csv.ok()) return 0;
  for (const float value : csv->table.features) {
    if (!std::isfinite(value)) std::abort();
  }
  if (csv->table.features.size() * sizeof(float) > limits.memory_bytes_max) std::abort();
  if (!csv->names.empty() && csv->names.size() != csv->table.shape.values()) std::abort();
  if (!make_table(std::move(csv->table)).ok()) std::abort();
  return 0;
}
