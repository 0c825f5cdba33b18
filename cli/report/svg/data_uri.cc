#include "cli/report/svg/data_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tributary::report {
namespace {

constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Encodes one to three bytes as four base64 digits; '=' replaces the digits of missing bytes.
void append_base64(std::string& text, ByteSpan three) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < three.size() ? three[i] : 0u);
  for (std::size_t i = 0; i < 4; ++i) {
    text += i <= three.size() ? kBase64Digits[bits >> (18 - 6 * i) & 63] : '=';
  }
}

}  // namespace

std::string data_uri(std::string_view media_type, ByteSpan bytes) {
  std::string text = fmt::format("data:{};base64,", media_type);
  text.reserve(text.size() + (bytes.size() + 2) / 3 * 4);
  while (!bytes.empty()) {
    const ByteSpan three = bytes.first(std::min<std::size_t>(bytes.size(), 3));
    append_base64(text, three);
    bytes = bytes.subspan(three.size());
  }
  return text;
}

}  // namespace tributary::report
