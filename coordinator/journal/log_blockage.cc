#include "coordinator/journal/log_blockage.h"

#include <fmt/format.h>

namespace tributary {

std::string blockage_text(std::string_view journal, std::uint64_t log_bytes) {
  return fmt::format(
      "a process has read '{0}' in one transaction for more than {1} s; the log grows meanwhile "
      "and has {2:.0f} MB: end that process ('fuser {0}' names it)",
      journal, LogBlockage::kReportAfter.count(), static_cast<double>(log_bytes) / 1e6);
}

}  // namespace tributary
