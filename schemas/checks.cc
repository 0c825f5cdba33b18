#include "schemas/checks.h"

#include <fmt/format.h>

#include <bit>

#include "schemas/limits.h"
#include "schemas/walk.h"

namespace tributary::wire {
namespace {

constexpr std::string_view kRemedy = "refuse the frame; docs/wire.md says what must hold";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Returns the length of the character at text[i]. Returns 0 if it is not valid UTF-8 or is a
// control character other than a line break, because texts are written to logs and terminals.
std::size_t character_bytes(std::string_view text, std::size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  if (lead < 0x20 || lead == 0x7F) return lead == '\n' ? 1 : 0;
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xC2 && lead < 0xE0   ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || text.size() - i < bytes) return 0;
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if (!is_continuation(text[i + k])) return 0;
    code = code << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
  }
  // A shorter form exists, or the code is a UTF-16 surrogate or a C1 control character: all
  // invalid.
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool control = code < 0xA0;
  return overlong || surrogate || control || code > 0x10FFFF ? 0 : bytes;
}

// The visitor that checks the rules for all fields of a frame.
class FieldRules {
 public:
  explicit FieldRules(std::size_t frame_bytes) : frame_bytes_(frame_bytes) {}

  template <typename Number>
  Status number(const Place& place, Number number) {
    if constexpr (std::is_floating_point_v<Number>) {
      if (!std::isfinite(number)) {
        return Status(StatusCode::not_finite, {.what = place.text(),
                                               .expected = "a finite number",
                                               .got = fmt::format("{}", number),
                                               .remedy = "leave out what was not measured"});
      }
    }
    return {};
  }

  Status text(const Place& place, std::string_view text) {
    if (text.size() > kTextBytesMax) return over_cap(place.text(), kTextBytesMax, text.size());
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t bytes = character_bytes(text, i);
      if (bytes == 0) {
        return broken(place.text(), "UTF-8 without control characters",
                      fmt::format("byte 0x{:02x} at {}", static_cast<unsigned char>(text[i]), i));
      }
      i += bytes;
    }
    return count(place, text.size());
  }

  Status list(const Place& place, ByteSpan bytes, std::size_t alignment) {
    // flatbuffers::Verifier checks only the alignment of a list's length.
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment != 0) {
      return broken(place.text(), fmt::format("items at multiples of {} bytes", alignment),
                    "another address");
    }
    return count(place, bytes.size());
  }

 private:
  // FlatBuffers allows several fields to refer to the same bytes. The sum of all sizes exceeds that
  // of the frame only if such sharing occurs.
  Status count(const Place& place, std::size_t bytes) {
    counted_bytes_ += bytes;
    if (counted_bytes_ <= frame_bytes_) return {};
    return broken(place.text(), fmt::format("separate fields within {} bytes", frame_bytes_),
                  "fields that share bytes");
  }

  std::size_t frame_bytes_;
  std::size_t counted_bytes_ = 0;
};

}  // namespace

Status check_all_fields(const Frame& frame, std::size_t frame_bytes) {
  FieldRules rules(frame_bytes);
  return walk_frame(frame, rules);
}

Status check_envelope(const Frame& frame) {
  const KindRules& rules = rules_of(frame.message_type());
  if (!rules.has(kBeforeSession)) TRIBUTARY_TRY(given("session", frame.session()));
  if (rules.has(kRequiresAnswer)) TRIBUTARY_TRY(given("message_id", frame.message_id()));
  // An Ack may also only report which bulk frames have arrived.
  const bool counts_bulk = frame.message_type() == Message::Ack &&
                           (frame.bulk_received() > 0 || frame.bulk_number() > 0);
  if (rules.has(kIsAnswer) && !counts_bulk) {
    TRIBUTARY_TRY(given("in_reply_to", frame.in_reply_to()));
  }
  return {};
}

Status broken(std::string_view field, std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = std::string(field),
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = std::string(kRemedy)});
}

Status over_cap(std::string_view field, std::uint64_t max, std::uint64_t got) {
  return Status(StatusCode::resource_exhausted,
                {.what = std::string(field),
                 .expected = fmt::format("at most {}", max),
                 .got = fmt::format("{}", got),
                 .remedy = "stay within schemas/limits.h, or send it in several frames"});
}

Status given(std::string_view field, const flatbuffers::String* text) {
  return text && text->size() > 0 ? Status() : broken(field, "a text", "none");
}

Status in_range(std::string_view field, std::uint64_t number, std::uint64_t min,
                std::uint64_t max) {
  if (number >= min && number <= max) return {};
  return broken(field, fmt::format("{} to {}", min, max), fmt::format("{}", number));
}

Status below(std::string_view field, std::uint64_t number, std::uint64_t end) {
  if (number < end) return {};
  return broken(field, fmt::format("less than {}", end), fmt::format("{}", number));
}

Status equal(std::string_view field, std::uint64_t number, std::uint64_t expected) {
  if (number == expected) return {};
  return broken(field, fmt::format("{}", expected), fmt::format("{}", number));
}

Status not_negative(std::string_view field, double number) {
  return number >= 0 ? Status() : broken(field, "0 or more", fmt::format("{}", number));
}

Status positive(std::string_view field, double number) {
  return number > 0 ? Status() : broken(field, "more than 0", fmt::format("{}", number));
}

Status fraction(std::string_view field, double number) {
  if (number >= 0 && number <= 1) return {};
  return broken(field, "0 to 1", fmt::format("{}", number));
}

// An id must not contain a path separator or white space.
Status agent_id(std::string_view field, const flatbuffers::String* id) {
  TRIBUTARY_TRY(given(field, id));
  TRIBUTARY_TRY(at_most(field, id->size(), kAgentIdBytesMax));
  for (const char c : id->string_view()) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_') continue;
    return broken(field, "letters, digits, dot, dash and underscore", id->str());
  }
  return {};
}

Status version_range(std::uint32_t min, std::uint32_t max) {
  TRIBUTARY_TRY(given("version_min", min));
  return in_range("version_min", min, 1, max);
}

Status round_id(const RoundId* id) {
  TRIBUTARY_TRY(given("id", id));
  TRIBUTARY_TRY(given("id.job", id->job()));
  TRIBUTARY_TRY(given("id.round", id->round()));
  return given("id.epoch", id->epoch());
}

Status bitmap(std::string_view field, const flatbuffers::Vector<std::uint8_t>* bytes,
              std::uint64_t bits) {
  const std::uint64_t expected_bytes = (bits + 7) / 8;
  if (size_of(bytes) != expected_bytes) {
    return broken(field, fmt::format("{} bytes for {} bits", expected_bytes, bits),
                  fmt::format("{}", size_of(bytes)));
  }
  // Bits beyond the last member must be 0, so that equal sets have equal bytes.
  if (bits % 8 != 0 && bytes->Get(bytes->size() - 1) >> (bits % 8) != 0) {
    return broken(field, fmt::format("no bit set beyond {}", bits), "one");
  }
  return {};
}

std::uint64_t bits_set(const flatbuffers::Vector<std::uint8_t>& bytes) {
  std::uint64_t set = 0;
  for (const std::uint8_t byte : bytes) set += static_cast<unsigned>(std::popcount(byte));
  return set;
}

}  // namespace tributary::wire
