#include "core/base/bytes/bytes.h"

#include <fmt/format.h>

template class std::vector<std::uint8_t, tributary::RawAllocator<std::uint8_t>>;
template class std::vector<float, tributary::RawAllocator<float>>;

namespace tributary {

void release_unused(Bytes& bytes) {
  constexpr std::size_t kPageBytes = 4096;
  const std::size_t unused = bytes.capacity() - bytes.size();
  if (unused < kPageBytes || unused <= bytes.size() / 8) return;
  Bytes exact(bytes.size());
  if (!exact.empty()) std::memcpy(exact.data(), bytes.data(), exact.size());
  bytes.swap(exact);
}

Result<ByteSpan> ByteReader::take(std::size_t count, std::string_view field) {
  if (remaining() < count) return cut_short(field, count);
  ByteSpan taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

Status ByteReader::skip(std::size_t count, std::string_view field) {
  return take(count, field).status();
}

Status ByteReader::expect_end(std::string_view what) const {
  if (remaining() == 0) return {};
  return Status(StatusCode::corrupt_data,
                {.what = std::string(what),
                 .expected = fmt::format("an end after {} bytes", position_),
                 .got = fmt::format("{} bytes more", remaining())});
}

Status ByteReader::cut_short(std::string_view field, std::size_t needed) const {
  return Status(StatusCode::corrupt_data, {.what = fmt::format("{} at byte {}", field, position_),
                                           .expected = fmt::format("{} bytes", needed),
                                           .got = fmt::format("{} before the end", remaining())});
}

Status ByteWriter::append(ByteSpan bytes) {
  if (out_.size() > size_max_ || size_max_ - out_.size() < bytes.size()) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "write buffer",
                   .expected = fmt::format("at most {} bytes", size_max_),
                   .got = fmt::format("{} more after {}", bytes.size(), out_.size())});
  }
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  return {};
}

}  // namespace tributary
