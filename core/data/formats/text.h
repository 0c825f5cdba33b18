// Plain text as a data set for character models: one token per byte, in consecutive windows of
// equal length. The file is read on demand.
//
// The set is immutable, and several threads may read it. Memory does not grow with the file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes/byte_source.h"
#include "core/data/data_set.h"

namespace tributary {

// The mapping from bytes to tokens.
enum class TextVocabulary : std::uint8_t {
  printable,  // 0 to 94: ' ' to '~'; 95: newline; 96: any other byte
  bytes,      // all 256 values
};

constexpr std::uint32_t vocabulary_size(TextVocabulary vocabulary) {
  return vocabulary == TextVocabulary::printable ? 97 : 256;
}

struct TextOptions {
  std::uint32_t tokens = 64;  // length of a window
  TextVocabulary vocabulary = TextVocabulary::printable;
};

// Example i begins at byte i * tokens. Its labels are its tokens shifted by one, so n windows need
// a text of n * tokens + 1 bytes; a remainder is not used. Fails with invalid_argument (no tokens,
// or a text shorter than one window and a byte) or resource_exhausted (more than 2^32 - 1 windows).
Result<std::unique_ptr<DataSet>> make_text(std::shared_ptr<const ByteSource> source,
                                           const TextOptions& options);

// The token of a byte, below vocabulary_size().
std::uint32_t token_of(std::uint8_t byte, TextVocabulary vocabulary);
// The inverse of token_of(). The token for "any other byte" becomes '?'.
std::string text_of(std::span<const std::int64_t> tokens, TextVocabulary vocabulary);

}  // namespace tributary
