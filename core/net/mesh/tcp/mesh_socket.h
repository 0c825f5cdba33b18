// Sockets for the mesh: files that close themselves, addresses and errors. Internal to
// core/net/mesh.
//
// Nothing here looks up names or blocks. Not thread-safe; different objects may be used on
// different threads.
#pragma once

#include <sys/socket.h>

#include <string>
#include <utility>

#include "core/base/status.h"

namespace tributary {

// An io_error with the text of errno. Call it before anything else can change errno.
Status os_failed(std::string what);

// Owns a file descriptor and closes it.
class File {
 public:
  File() = default;
  explicit File(int file) : file_(file) {}
  File(File&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~File();

  int get() const { return file_; }
  int release() { return std::exchange(file_, -1); }
  explicit operator bool() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

struct Address {
  sockaddr_storage storage = {};
  socklen_t bytes = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// Parses "tcp://192.0.2.7:4650" or "tcp://[2001:db8::7]:4650". Returns invalid_argument for any
// other text, including host names.
Result<Address> parse_address(const std::string& endpoint);
std::string text_of(const Address& address);

}  // namespace tributary
