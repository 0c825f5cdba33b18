// A file to be read at any place, without taking all of it into memory.
#pragma once

#include <string>

#include "core/base/bytes/byte_source.h"

namespace tributary {

class InputFile final : public ByteSource {
 public:
  // Only regular files: nothing else has a size to plan by.
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
