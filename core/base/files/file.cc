#include "core/base/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <random>
#include <system_error>
#include <utility>

namespace tributary {
namespace {

// The remedy for an error number, as an instruction to the user; empty if none is known.
std::string remedy(int error) {
  switch (error) {
    case ENOENT:
      return "check the path; folders on it must exist";
    case EACCES:
    case EPERM:
      return "check the permissions of the file and of its folder";
    case EROFS:
      return "choose a place that is not mounted read-only";
    case EISDIR:
      return "name a file, not a folder";
    case ENOTDIR:
      return "check the path: something on it is a file where a folder should be";
    case ENOSPC:
      return "free some space or choose another disk";
    case EDQUOT:
      return "the disk quota is used up: free some space or have it raised";
    case EFBIG:
      return "the file size limit is reached: raise it (ulimit -f) or write less";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit (ulimit -n)";
    case EIO:
      return "the disk reports an error: check it";
    default:
      return "";
  }
}

Status system_fault(std::string_view doing, std::string_view path, int error) {
  return Status(error == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                {.what = fmt::format("{} '{}'", doing, path),
                 .got = std::generic_category().message(error),
                 .remedy = remedy(error)});
}

Status too_large(const std::string& path, std::uint64_t size_max, std::string got) {
  return Status(StatusCode::resource_exhausted,
                {.what = fmt::format("reading '{}'", path),
                 .expected = fmt::format("at most {} bytes", size_max),
                 .got = std::move(got)});
}

// Owns a file descriptor and closes it.
class OwnedFd {
 public:
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() {
    if (fd_ >= 0) ::close(fd_);
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Repeats a system call that a signal interrupted.
template <typename Call>
auto retry_interrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Reads a complete file into `out` and grows it as needed; `size` is the file's size in bytes. The
// size that the system reports is only a hint: a file may grow, and a pipe has no size.
template <typename T>
Status read_all(const std::string& path, std::uint64_t size_max, RawVector<T>& out,
                std::size_t& size) {
  const OwnedFd file(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.get() < 0) return system_fault("opening", path, errno);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return system_fault("reading", path, errno);
  const auto stated = static_cast<std::uint64_t>(std::max<off_t>(info.st_size, 0));
  if (S_ISREG(info.st_mode) && stated > size_max) {
    return too_large(path, size_max, fmt::format("{}", stated));
  }

  constexpr std::size_t kGrowBytes = 1 << 16;
  const auto capacity = [&] { return out.size() * sizeof(T); };
  const auto resize = [&](std::size_t bytes) { out.resize((bytes + sizeof(T) - 1) / sizeof(T)); };
  // One byte more than reported, so that the end is detected without growing the buffer.
  resize(S_ISREG(info.st_mode) ? static_cast<std::size_t>(stated) + 1 : kGrowBytes);
  for (size = 0;;) {
    if (size == capacity()) resize(size + std::max(size / 2, kGrowBytes));
    auto* at = reinterpret_cast<std::uint8_t*>(out.data()) + size;
    const ssize_t got =
        retry_interrupted([&] { return ::read(file.get(), at, capacity() - size); });
    if (got < 0) return system_fault("reading", path, errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > size_max) return too_large(path, size_max, "more");
  }
  out.resize(size / sizeof(T));
  return {};
}

std::string random_suffix() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

// The path where the file will be stored: the given path, or the destination of a symbolic link
// there.
Result<std::filesystem::path> follow_link(const std::string& target) {
  std::error_code error;
  const std::filesystem::path path(target);
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) return path;
  auto end = std::filesystem::canonical(path, error);
  if (error) return system_fault("following the link", target, error.value());
  return end;
}

}  // namespace

Result<Bytes> read_file(const std::string& path, std::uint64_t size_max) {
  Bytes bytes;
  std::size_t size = 0;
  TRIBUTARY_TRY(read_all(path, size_max, bytes, size));
  return bytes;
}

Result<FloatVector> read_f32_file(const std::string& path, std::uint64_t size_max) {
  FloatVector values;
  std::size_t size = 0;
  TRIBUTARY_TRY(read_all(path, size_max, values, size));
  if (size % sizeof(float) != 0) {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("reading '{}'", path),
                   .expected = "float32 values: a multiple of 4 bytes",
                   .got = fmt::format("{} bytes", size),
                   .remedy = "check that the file is raw float32 and complete"});
  }
  return values;
}

// A moved-from object owns nothing; its append() and commit() return an error.
AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this == &other) return *this;
  drop();
  target_ = std::move(other.target_);
  name_ = std::move(other.name_);
  temporary_ = std::exchange(other.temporary_, {});
  folder_ = std::exchange(other.folder_, -1);
  file_ = std::exchange(other.file_, -1);
  failed_ = other.failed_;
  return *this;
}

AtomicFile::~AtomicFile() { drop(); }

void AtomicFile::drop() noexcept {
  // An unnamed file needs no removal: it disappears when its descriptor is closed.
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
  temporary_.clear();
  if (file_ >= 0) ::close(file_);
  if (folder_ >= 0) ::close(folder_);
  file_ = folder_ = -1;
}

Status AtomicFile::fault(const char* doing, int error) const {
  return system_fault(doing, target_, error);
}

Result<AtomicFile> AtomicFile::open(const std::string& target, const AtomicFileOptions& options) {
  AtomicFile made;
  made.target_ = target;
  TRIBUTARY_ASSIGN(const std::filesystem::path path, follow_link(target));
  made.name_ = path.filename();
  if (made.name_.empty() || made.name_ == "." || made.name_ == "..") {
    return made.fault("writing", EISDIR);
  }
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  // All later operations are relative to this descriptor, so a renamed folder does not redirect
  // them.
  made.folder_ =
      retry_interrupted([&] { return ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (made.folder_ < 0) return made.fault("opening the folder of", errno);

  struct stat old;
  const bool exists = ::fstatat(made.folder_, made.name_.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && S_ISDIR(old.st_mode)) return made.fault("writing", EISDIR);
  if (exists && !S_ISREG(old.st_mode)) {
    return Status(StatusCode::invalid_argument,
                  {.what = fmt::format("writing '{}'", target),
                   .expected = "a regular file, or nothing yet",
                   .got = "something else, such as a device or a pipe",
                   .remedy = "name a file"});
  }
  const mode_t mode = exists ? old.st_mode & 07777 : static_cast<mode_t>(options.mode_if_new);
  made.file_ = made.create(mode & 0777, options.unnamed);
  if (made.file_ < 0) return made.fault("creating a file beside", errno);
  // The umask was applied when the file was created. An existing file's mode is restored
  // completely.
  if (exists && ::fchmod(made.file_, mode) != 0) return made.fault("keeping the mode of", errno);
  return made;
}

int AtomicFile::create(unsigned mode, bool unnamed) {
  const auto open_in_folder = [&](const char* name, int flags) {
    return retry_interrupted(
        [&] { return ::openat(folder_, name, flags | O_WRONLY | O_CLOEXEC, mode); });
  };
  if (unnamed) {
    const int file = open_in_folder(".", O_TMPFILE);
    // Systems without this flag return EISDIR or EINVAL.
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
  }
  std::string temporary = fmt::format(".{}.{}.tmp", name_, random_suffix());
  const int file = open_in_folder(temporary.c_str(), O_CREAT | O_EXCL);
  if (file >= 0) temporary_ = std::move(temporary);
  return file;
}

Status AtomicFile::append(ByteSpan bytes) {
  // After a failed write the content is incomplete, so the file must never be committed.
  if (failed_ || file_ < 0) return fault("writing", EBADF);
  while (!bytes.empty()) {
    const ssize_t written =
        retry_interrupted([&] { return ::write(file_, bytes.data(), bytes.size()); });
    if (written < 0) {
      failed_ = true;
      return fault("writing", errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

// rename() can replace a file, but it requires a name, so an unnamed file gets a temporary one.
Status AtomicFile::give_name() {
  if (!temporary_.empty()) return {};
  std::string temporary = fmt::format(".{}.{}.tmp", name_, random_suffix());
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file_);
  if (::linkat(AT_FDCWD, unnamed.c_str(), folder_, temporary.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return fault("naming the file beside", errno);
  }
  temporary_ = std::move(temporary);
  return {};
}

Status AtomicFile::commit() {
  if (failed_ || file_ < 0) return fault("committing", EBADF);
  // Set before the steps below, so that a failed commit cannot be repeated.
  failed_ = true;
  if (::fsync(file_) != 0) return fault("syncing", errno);
  TRIBUTARY_TRY(give_name());
  if (::renameat(folder_, temporary_.c_str(), folder_, name_.c_str()) != 0) {
    return fault("replacing", errno);
  }
  temporary_.clear();
  // The rename is only durable after the folder has been synced.
  if (::fsync(folder_) != 0) return fault("written, but syncing the folder of", errno);
  failed_ = false;
  drop();
  return {};
}

Status write_file_atomically(const std::string& path, ByteSpan bytes,
                             const AtomicFileOptions& options) {
  TRIBUTARY_ASSIGN(AtomicFile file, AtomicFile::open(path, options));
  TRIBUTARY_TRY(file.append(bytes));
  return file.commit();
}

}  // namespace tributary
