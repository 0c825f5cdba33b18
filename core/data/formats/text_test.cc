// Tests of reading texts as windows of tokens, whose labels are the next tokens.
#include "core/data/formats/text.h"

#include <gmock/gmock.h>

#include "core/data/source.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<std::unique_ptr<DataSet>> make(std::string_view text, const TextOptions& options) {
  const ByteSpan bytes = bytes_of(text);
  return make_text(memory_source(Bytes(bytes.begin(), bytes.end())), options);
}

TEST(Text, LabelsAreTheNextTokens) {
  const auto data = make("abcdefgh", {.tokens = 3});
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_EQ((*data)->count(), 2u);  // the remainder "gh" is too short for a window
  EXPECT_EQ((*data)->shape().classes, 97u);
  EXPECT_THAT((*data)->shape().dims, ElementsAre(3));
  Batch batch;
  const std::uint32_t indices[] = {1, 0};
  ASSERT_TRUE((*data)->gather(indices, batch).ok());
  EXPECT_EQ(text_of(batch.tokens, TextVocabulary::printable), "defabc");
  EXPECT_EQ(text_of(batch.labels, TextVocabulary::printable), "efgbcd");
}

// The last label needs one byte beyond the windows.
TEST(Text, OneByteMoreMakesAWindow) {
  EXPECT_EQ((*make("1234567", {.tokens = 3}))->count(), 2u);
  EXPECT_EQ((*make("123456", {.tokens = 3}))->count(), 1u);
  EXPECT_EQ((*make("1234", {.tokens = 3}))->count(), 1u);
  const Status status = make("123", {.tokens = 3}).status();
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_THAT(status.text(), HasSubstr("expected 4 bytes or more"));
}

TEST(Text, EveryByteHasATokenOfItsVocabulary) {
  for (const auto vocabulary : {TextVocabulary::printable, TextVocabulary::bytes}) {
    std::vector<bool> seen(vocabulary_size(vocabulary));
    for (unsigned byte = 0; byte < 256; ++byte) {
      const std::uint32_t token = token_of(static_cast<std::uint8_t>(byte), vocabulary);
      ASSERT_LT(token, seen.size());
      seen[token] = true;
    }
    for (const bool each : seen) EXPECT_TRUE(each);
  }
  EXPECT_EQ(token_of(' ', TextVocabulary::printable), 0u);
  EXPECT_EQ(token_of('~', TextVocabulary::printable), 94u);
  EXPECT_EQ(token_of('\n', TextVocabulary::printable), 95u);
  EXPECT_EQ(token_of('\t', TextVocabulary::printable), 96u);
}

TEST(Text, RefusesWindowsOfNoSize) {
  EXPECT_FALSE(make("abc", {.tokens = 0}).ok());
  EXPECT_FALSE(make("abc", {.tokens = 0xffffffff}).ok());
}

}  // namespace
}  // namespace tributary
