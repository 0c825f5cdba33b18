// Fuzzes texts: byte 0 chooses the vocabulary, byte 1 the window, the rest is the text. Every label
// must be the token that follows.
#include <cstdlib>

#include "core/data/formats/text.h"
#include "core/data/source.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size < 2) return 0;
  const TextOptions options{.tokens = data[1],
                            .vocabulary = static_cast<TextVocabulary>(data[0] % 2)};
  const ByteSpan text(data + 2, size - 2);
  const auto opened = make_text(memory_source(Bytes(text.begin(), text.end())), options);
  if (!opened.ok()) return 0;
  const std::uint32_t last = (*opened)->count() - 1;
  const std::uint32_t indices[] = {last};
  Batch batch;
  if (!(*opened)->gather(indices, batch).ok()) std::abort();
  for (std::size_t i = 0; i < options.tokens; ++i) {
    const std::size_t at = std::size_t{last} * options.tokens + i;
    if (batch.tokens[i] != token_of(text[at], options.vocabulary)) std::abort();
    if (batch.labels[i] != token_of(text[at + 1], options.vocabulary)) std::abort();
  }
  return 0;
}
