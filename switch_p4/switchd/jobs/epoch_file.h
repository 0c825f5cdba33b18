// Remembers which epochs have been installed, so that a restarted aggregator does not serve an
// epoch that it has forgotten the sums of.
//
// One small text file, a line "HANDLE EPOCH" for each job, which is replaced as a whole and is on
// the disk before remember() returns. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/base/status.h"

namespace tributary::switchd {

class EpochFile {
 public:
  // A missing file has no jobs. Returns corrupt_data for another form.
  static Result<EpochFile> open(std::string path);

  // Whether the epoch is above all that were installed for the job.
  bool is_new(std::uint16_t handle, std::uint32_t epoch) const;
  // The highest epoch that was installed for the job; 0: none.
  std::uint32_t highest(std::uint16_t handle) const;
  Status remember(std::uint16_t handle, std::uint32_t epoch);

 private:
  explicit EpochFile(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::map<std::uint16_t, std::uint32_t> last_;
};

}  // namespace tributary::switchd
