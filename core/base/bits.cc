#include "core/base/bits.h"

#include <fmt/format.h>

namespace tributary {

Status BitReader::expect_padding(std::string_view what) const {
  if (bits_remaining() < 8 && window_ == 0) return {};
  return Status(StatusCode::corrupt_data,
                {.what = std::string(what),
                 .expected = "fewer than 8 bits of zero padding at the end",
                 .got = fmt::format("{} bits left over, {}", bits_remaining(),
                                    window_ == 0 ? "all zero" : "some of them set")});
}

Status BitReader::cut_short(std::string_view field, unsigned bits) const {
  return Status(StatusCode::corrupt_data,
                {.what = fmt::format("{} at byte {}", field, position_),
                 .expected = fmt::format("{} bits", bits),
                 .got = fmt::format("{} before the end", bits_remaining())});
}

}  // namespace tributary
