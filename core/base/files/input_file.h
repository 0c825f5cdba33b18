// A file that can be read at any offset without loading it into memory.
//
// It owns its file descriptor. Any thread may read it. The file must not shrink while it is open;
// read() then returns io_error.
#pragma once

#include <string>

#include "core/base/bytes/byte_source.h"

namespace tributary {

class InputFile final : public ByteSource {
 public:
  // Opens a regular file. Other kinds of files have no fixed size and are refused (io_error). A
  // missing file gives not_found.
  static Result<InputFile> open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  ~InputFile() override;

  std::uint64_t size() const override { return size_; }
  Status read(std::uint64_t offset, MutableByteSpan out) const override;

 private:
  InputFile(std::string path, int file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

}  // namespace tributary
