#include "switch_p4/switchd/jobs/epoch_file.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "core/base/files/file.h"

namespace tributary::switchd {
namespace {

constexpr std::uint64_t kEpochFileMax = 4u << 20;

}  // namespace

Result<EpochFile> EpochFile::open(std::string path) {
  EpochFile file(std::move(path));
  const Result<Bytes> bytes = read_file(file.path_, kEpochFileMax);
  if (!bytes.ok()) {
    if (bytes.status().code() == StatusCode::not_found) return file;
    return bytes.status();
  }
  std::istringstream lines{std::string(as_text(*bytes))};
  std::uint32_t handle = 0;
  std::uint32_t epoch = 0;
  while (lines >> handle >> epoch) file.last_[static_cast<std::uint16_t>(handle)] = epoch;
  if (!lines.eof() || handle > UINT16_MAX) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("'{}'", file.path_),
                   .expected = "lines of a job's handle and its last epoch",
                   .remedy = "remove the file, and install epochs above all that were used"});
  }
  return file;
}

bool EpochFile::is_new(std::uint16_t handle, std::uint32_t epoch) const {
  const auto at = last_.find(handle);
  return at == last_.end() || epoch > at->second;
}

std::uint32_t EpochFile::highest(std::uint16_t handle) const {
  const auto at = last_.find(handle);
  return at == last_.end() ? 0 : at->second;
}

Status EpochFile::remember(std::uint16_t handle, std::uint32_t epoch) {
  last_[handle] = epoch;
  std::string text;
  for (const auto& [job, last] : last_) text += fmt::format("{} {}\n", job, last);
  return write_file_atomically(path_, bytes_of(text));
}

}  // namespace tributary::switchd
