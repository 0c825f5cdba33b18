// Plain text for character models: one token per byte, cut into windows of the same length.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes/byte_source.h"
#include "core/data/data_set.h"

namespace tributary {

enum class TextVocabulary : std::uint8_t {
  printable,  // ' ' to '~' are 0 to 94, the end of a line is 95, all else is 96
  bytes,      // all 256
};

constexpr std::uint32_t vocabulary_size(TextVocabulary vocabulary) {
  return vocabulary == TextVocabulary::printable ? 97 : 256;
}

struct TextOptions {
  std::uint32_t tokens = 64;  // of a window
  TextVocabulary vocabulary = TextVocabulary::printable;
};

// Example i begins at byte i * tokens; its labels are its tokens moved by one, so the text has to
// be one byte longer than the windows.
Result<std::unique_ptr<DataSet>> make_text(std::shared_ptr<const ByteSource> source,
                                           const TextOptions& options);

std::uint32_t token_of(std::uint8_t byte, TextVocabulary vocabulary);
// What a token of unknown meaning looks like is '?'.
std::string text_of(std::span<const std::int64_t> tokens, TextVocabulary vocabulary);

}  // namespace tributary
