#include "coordinator/operators/allow_file.h"

#include <fmt/format.h>

#include <vector>

namespace tributary {

Status AllowFile::read() {
  const std::lock_guard lock(mutex_);
  return read_locked();
}

Status AllowFile::read_locked() {
  if (path_.empty()) return {};
  TRIBUTARY_ASSIGN(const std::vector<AllowedAgent> allowed, read_allow_file(path_));
  list_->replace(allowed);
  return {};
}

void AllowFile::read_again(Log& log) {
  if (path_.empty()) return;
  if (const Status status = read(); !status.ok()) {
    return log.error("coordinator", "the allow-list cannot be read; the earlier one stays in force",
                     {{"of", subject_}, {"error", status.text()}});
  }
  log.info("coordinator", "allow-list read again", {{subject_, list_->size()}});
}

Status AllowFile::check_path() const {
  if (!path_.empty()) return {};
  return Status(StatusCode::unsupported, {.what = fmt::format("the allow-list of {}", subject_),
                                          .expected = "a file in the coordinator's settings",
                                          .got = "none, because encryption is off",
                                          .remedy = "set link.encrypted and link.allow_file"});
}

Status AllowFile::allow(const AllowedAgent& agent) {
  TRIBUTARY_TRY(check_path());
  const std::lock_guard lock(mutex_);
  TRIBUTARY_TRY(allow_in_file(path_, agent));
  return read_locked();
}

Status AllowFile::revoke(std::string_view id) {
  TRIBUTARY_TRY(check_path());
  const std::lock_guard lock(mutex_);
  // Also reads the file again if the revocation failed, for example because the agent's line was
  // removed by hand since the last reading.
  Status revoked = revoke_in_file(path_, id).status();
  TRIBUTARY_TRY(read_locked());
  return revoked;
}

}  // namespace tributary
