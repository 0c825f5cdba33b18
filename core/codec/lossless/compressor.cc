#include "core/codec/lossless/compressor.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <array>

namespace tributary::lossless {
namespace {

// An error of untrusted compressed data.
Status refused(std::string_view library, std::size_t expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = fmt::format("{} data", library),
                                           .expected = fmt::format("{} bytes", expected),
                                           .got = std::move(got),
                                           .remedy = "have the bucket sent again"});
}

// An error of the compression itself. The output always has enough space, so memory is lacking.
Status failed(std::string_view library, std::string got) {
  return Status(StatusCode::resource_exhausted, {.what = fmt::format("{} compression", library),
                                                 .expected = "memory enough",
                                                 .got = std::move(got),
                                                 .remedy = "use smaller buckets"});
}

class Zstd final : public Compressor {
 public:
  explicit Zstd(int level) : level_(level) {}

  std::size_t bound(std::size_t bytes) const override { return ZSTD_compressBound(bytes); }

  Result<std::size_t> compress(ByteSpan in, MutableByteSpan out) const override {
    const std::size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), level_);
    if (ZSTD_isError(size) != 0) return failed("zstd", ZSTD_getErrorName(size));
    return size;
  }

  Status decompress(ByteSpan in, MutableByteSpan out) const override {
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(size) != 0) return refused("zstd", out.size(), ZSTD_getErrorName(size));
    if (size != out.size()) return refused("zstd", out.size(), fmt::format("{}", size));
    return {};
  }

 private:
  int level_;
};

class Zlib final : public Compressor {
 public:
  explicit Zlib(int level) : level_(level) {}

  std::size_t bound(std::size_t bytes) const override { return compressBound(bytes); }

  Result<std::size_t> compress(ByteSpan in, MutableByteSpan out) const override {
    uLongf size = out.size();
    const int code = compress2(out.data(), &size, in.data(), in.size(), level_);
    if (code != Z_OK) return failed("zlib", zError(code));
    return size;
  }

  Status decompress(ByteSpan in, MutableByteSpan out) const override {
    uLongf size = out.size();
    uLong used = in.size();
    // uncompress2() also reports the bytes used, so that bytes after the end are detected.
    const int code = uncompress2(out.data(), &size, in.data(), &used);
    if (code != Z_OK) return refused("zlib", out.size(), zError(code));
    if (size != out.size() || used != in.size()) {
      return refused("zlib", out.size(), fmt::format("{} from {} of {}", size, used, in.size()));
    }
    return {};
  }

 private:
  int level_;
};

// One object per level, created at first use. The level was checked against the parameter's bounds,
// 1 to kLevels.
template <typename Library, std::size_t kLevels>
const Compressor& at_level(int level) {
  static const auto kAll = []<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    return std::array<Library, kLevels>{Library(static_cast<int>(kIndex) + 1)...};
  }
  (std::make_index_sequence<kLevels>());
  return kAll[static_cast<std::size_t>(level - 1)];
}

}  // namespace

const Compressor& zstd_compressor(int level) { return at_level<Zstd, 19>(level); }
const Compressor& zlib_compressor(int level) { return at_level<Zlib, 9>(level); }

}  // namespace tributary::lossless
