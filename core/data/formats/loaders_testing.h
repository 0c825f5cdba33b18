// A temporary folder for one test, and small files of each format.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/data/formats/idx.h"

namespace tributary::data_testing {

// Creates a new folder and removes it with its content at the end.
class Folder {
 public:
  Folder() {
    std::string folder = testing::TempDir() + "tributary-data-XXXXXX";
    path_ = ::mkdtemp(folder.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path() const { return path_; }
  std::string path(const std::string& name) const { return path_ / name; }
  std::string write(const std::string& name, ByteSpan bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  std::string write(const std::string& name, std::string_view text) const {
    return write(name, bytes_of(text));
  }

 private:
  std::filesystem::path path_;
};

inline Bytes joined(Bytes front, ByteSpan back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

// Bytes that count up from `first`.
inline Bytes counting(std::size_t size, std::uint8_t first = 0) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

// An IDX file with this header and these values.
inline Bytes idx_file(std::initializer_list<std::uint32_t> dims, ByteSpan values) {
  return joined(idx_header(std::vector<std::uint32_t>(dims)), values);
}

// Compresses bytes as a gzip file with one member.
inline Bytes gzip(ByteSpan plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace tributary::data_testing
