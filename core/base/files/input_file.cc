#include "core/base/files/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace tributary {
namespace {

Status system_fault(std::string_view doing, const std::string& path, int error) {
  std::string remedy;
  if (error == ENOENT) remedy = "check the path";
  if (error == EACCES) remedy = "check the permissions of the file and of the folders on its path";
  if (error == EIO) remedy = "the disk reports an error: check it";
  return Status(error == ENOENT ? StatusCode::not_found : StatusCode::io_error,
                {.what = fmt::format("{} '{}'", doing, path),
                 .got = std::generic_category().message(error),
                 .remedy = std::move(remedy)});
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  // O_NONBLOCK: a pipe without a writer must not block the program.
  InputFile file(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.file_ < 0) return system_fault("opening", path, errno);
  struct stat info;
  if (::fstat(file.file_, &info) != 0) return system_fault("reading", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(StatusCode::io_error,
                  {.what = fmt::format("reading '{}'", path),
                   .expected = "a regular file",
                   .got = S_ISDIR(info.st_mode) ? "a folder" : "a pipe, a device or a socket",
                   .remedy = "name a file; store the output of a pipe first"});
  }
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
  if (file_ >= 0) ::close(file_);
}

// pread() has no file position, so several threads can read at the same time.
Status InputFile::read(std::uint64_t offset, MutableByteSpan out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(file_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_fault("reading", path_, errno);
    if (got == 0) {
      return Status(StatusCode::io_error,
                    {.what = fmt::format("reading '{}'", path_),
                     .expected = fmt::format("{} bytes, as at the beginning", size_),
                     .got = fmt::format("the end after {}", offset),
                     .remedy = "do not change the file while it is read"});
    }
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace tributary
