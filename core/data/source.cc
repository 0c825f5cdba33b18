#include "core/data/source.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/files/file.h"
#include "core/base/files/input_file.h"

namespace tributary {
namespace {

constexpr std::uint8_t kGzipMagic[] = {0x1f, 0x8b};
// zlib's code for 15 bits of window (32 KiB) and a gzip header only.
constexpr int kGzipOnly = 15 + 16;

// A source in memory; immutable, so any thread may read.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(Bytes bytes) : bytes_(std::move(bytes)) {}

  std::uint64_t size() const override { return bytes_.size(); }
  Status read(std::uint64_t offset, MutableByteSpan out) const override {
    if (offset > bytes_.size() || bytes_.size() - offset < out.size()) {
      return Status(StatusCode::io_error,
                    {.what = "reading what was unpacked",
                     .expected = fmt::format("a place within {} bytes", bytes_.size()),
                     .got = fmt::format("{} bytes at {}", out.size(), offset)});
    }
    std::copy_n(bytes_.data() + offset, out.size(), out.data());
    return {};
  }

 private:
  const Bytes bytes_;
};

// Owns zlib's state.
class Inflater {
 public:
  Inflater() : ready_(::inflateInit2(&stream_, kGzipOnly) == Z_OK) {}
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_;
};

Status damaged(std::uint64_t place, const char* message) {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("gzip data near byte {}", place),
                 .got = message != nullptr ? message : "an end within the data",
                 .remedy = "the file is damaged or incomplete: copy it again"});
}

}  // namespace

Result<Bytes> inflate_gzip(ByteSpan compressed, std::uint64_t size_max) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Inflater inflater;
  if (!inflater.ready()) {
    return Status(StatusCode::resource_exhausted, {.what = "unpacking: no memory for zlib"});
  }
  z_stream& stream = inflater.stream();
  Bytes out;
  std::size_t size = 0;
  // zlib counts in 32 bits, so input and output are passed in pieces.
  for (ByteSpan rest = compressed;;) {
    const std::size_t given = std::min(rest.size(), kPiece);
    // zlib does not write to its input; the cast is needed because its interface predates const.
    stream.next_in = const_cast<Bytef*>(rest.data());
    stream.avail_in = static_cast<uInt>(given);
    // The output grows by half, and by no more than one piece at first: a small file must not
    // allocate much, whatever its content claims.
    if (size == out.size())
      out.resize(size + std::max(size / 2, std::min(kPiece, rest.size() + 64)));
    const std::size_t available = std::min(out.size() - size, kPiece);
    stream.next_out = out.data() + size;
    stream.avail_out = static_cast<uInt>(available);
    const int answer = ::inflate(&stream, Z_NO_FLUSH);
    rest = rest.subspan(given - stream.avail_in);
    size += available - stream.avail_out;
    const std::uint64_t place = compressed.size() - rest.size();
    if (size > size_max) {
      return Status(StatusCode::resource_exhausted,
                    {.what = "unpacking gzip data",
                     .expected = fmt::format("at most {} bytes", size_max),
                     .got = "more",
                     .remedy = "unpack it with gunzip: a plain file is not held in memory"});
    }
    // A gzip file may consist of several members; decompression continues with the next one.
    if (answer == Z_STREAM_END) {
      if (rest.empty()) break;
      if (::inflateReset(&stream) != Z_OK) return damaged(place, "a state that zlib refuses");
    } else if (answer == Z_BUF_ERROR || (answer == Z_OK && rest.empty() && stream.avail_out > 0)) {
      return damaged(place, nullptr);
    } else if (answer != Z_OK) {
      return damaged(place, stream.msg != nullptr ? stream.msg : "no gzip data");
    }
  }
  out.resize(size);
  return out;
}

std::shared_ptr<const ByteSource> memory_source(Bytes bytes) {
  return std::make_shared<MemorySource>(std::move(bytes));
}

Result<std::shared_ptr<const ByteSource>> open_source(const std::string& path,
                                                      const DataLimits& limits) {
  TRIBUTARY_ASSIGN(InputFile file, InputFile::open(path));
  std::uint8_t magic[2] = {};
  if (file.size() >= sizeof(magic)) TRIBUTARY_TRY(file.read(0, magic));
  if (!std::ranges::equal(magic, kGzipMagic)) {
    return std::shared_ptr<const ByteSource>(std::make_shared<InputFile>(std::move(file)));
  }
  TRIBUTARY_ASSIGN(const Bytes compressed, read_file(path, limits.memory_bytes_max));
  auto bytes = inflate_gzip(compressed, limits.memory_bytes_max);
  if (!bytes.ok()) return std::move(bytes).status().at(path);
  return memory_source(std::move(*bytes));
}

}  // namespace tributary
