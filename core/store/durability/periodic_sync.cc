#include "core/store/durability/periodic_sync.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tributary {
namespace {

Status sync_error(const std::string& path, int code) {
  return Status(StatusCode::io_error, {.what = fmt::format("syncing '{}'", path),
                                       .expected = "its data on the disk",
                                       .got = std::generic_category().message(code),
                                       .remedy = "check the disk"});
}

}  // namespace

// A file has one set of pages, whichever descriptor it was written by.
Status sync_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Status() : sync_error(path, errno);
  const int code = ::fdatasync(file) == 0 ? 0 : errno;
  ::close(file);
  return code == 0 ? Status() : sync_error(path, code);
}

PeriodicSync::PeriodicSync(std::chrono::milliseconds every, Parts parts)
    : every_(every), parts_(std::move(parts)), thread_([this] { work(); }) {}

PeriodicSync::~PeriodicSync() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

// The time runs from the beginning of one sync to that of the next.
void PeriodicSync::work() {
  std::chrono::nanoseconds wait = every_;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, wait, [this] { return ending_; })) {
    lock.unlock();
    wait = std::max(every_ - sync(), std::chrono::nanoseconds(0));
    lock.lock();
  }
}

std::chrono::nanoseconds PeriodicSync::sync() {
  const std::chrono::nanoseconds began = parts_.clock.now();
  const Status status = parts_.sync();
  const std::chrono::nanoseconds took = parts_.clock.now() - began;
  if (!status.ok()) {
    if (!failed_) {
      parts_.log.warning(parts_.component, "the journal cannot be synced",
                         {{"error", status.text()}});
    }
    parts_.failed();
  } else if (took > every_) {
    parts_.log.warning(
        parts_.component, "the disk is slow: a power failure costs more than the setting says",
        {{"sync_s", std::chrono::duration_cast<std::chrono::seconds>(took).count()}});
  }
  failed_ = !status.ok();
  return took;
}

}  // namespace tributary
