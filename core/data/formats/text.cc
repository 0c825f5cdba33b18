#include "core/data/formats/text.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/data/limits.h"

namespace tributary {
namespace {

// The vocabulary of printable characters: ASCII in order, then the line break, then one token for
// all other bytes.
constexpr std::uint8_t kFirstPrintable = ' ';
constexpr std::uint8_t kLastPrintable = '~';
constexpr std::uint32_t kNewline = kLastPrintable - kFirstPrintable + 1;
constexpr std::uint32_t kOther = kNewline + 1;

// Reads the window of an example and one byte more, which is the last label.
class Text final : public DataSet {
 public:
  Text(std::shared_ptr<const ByteSource> source, const TextOptions& options, std::uint32_t count)
      : source_(std::move(source)),
        options_(options),
        count_(count),
        shape_{.task = DataTask::next_token,
               .dims = {options.tokens},
               .classes = vocabulary_size(options.vocabulary)} {}

  const ExampleShape& shape() const override { return shape_; }
  std::uint32_t count() const override { return count_; }
  std::span<const std::uint16_t> labels() const override { return {}; }

  Status gather(std::span<const std::uint32_t> indices, Batch& out) const override {
    TRIBUTARY_TRY(check_indices(indices, count_));
    out.count = indices.size();
    out.features.clear();
    out.targets.clear();
    out.tokens.clear();
    out.labels.clear();
    Bytes window(std::size_t{options_.tokens} + 1);
    for (const std::uint32_t index : indices) {
      TRIBUTARY_TRY(source_->read(std::uint64_t{index} * options_.tokens, window));
      for (std::size_t i = 0; i < options_.tokens; ++i) {
        out.tokens.push_back(token_of(window[i], options_.vocabulary));
        out.labels.push_back(token_of(window[i + 1], options_.vocabulary));
      }
    }
    return {};
  }

 private:
  const std::shared_ptr<const ByteSource> source_;
  const TextOptions options_;
  const std::uint32_t count_;
  const ExampleShape shape_;
};

}  // namespace

std::uint32_t token_of(std::uint8_t byte, TextVocabulary vocabulary) {
  if (vocabulary == TextVocabulary::bytes) return byte;
  if (byte >= kFirstPrintable && byte <= kLastPrintable) return byte - kFirstPrintable;
  return byte == '\n' ? kNewline : kOther;
}

// The inverse of token_of(), except that other bytes become a question mark.
std::string text_of(std::span<const std::int64_t> tokens, TextVocabulary vocabulary) {
  std::string text;
  for (const std::int64_t token : tokens) {
    if (vocabulary == TextVocabulary::bytes) {
      text += static_cast<char>(token);
    } else if (token < kNewline) {
      text += static_cast<char>(token + kFirstPrintable);
    } else {
      text += token == kNewline ? '\n' : '?';
    }
  }
  return text;
}

Result<std::unique_ptr<DataSet>> make_text(std::shared_ptr<const ByteSource> source,
                                           const TextOptions& options) {
  if (options.tokens == 0 || options.tokens > kExampleValuesMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "tokens of a window",
                   .expected = fmt::format("1 to {}", kExampleValuesMax),
                   .got = fmt::format("{}", options.tokens)});
  }
  if (source->size() <= options.tokens) {
    return Status(StatusCode::invalid_argument,
                  {.what = "text",
                   .expected = fmt::format("{} bytes or more, for one window of {} tokens",
                                           std::uint64_t{options.tokens} + 1, options.tokens),
                   .got = fmt::format("{}", source->size()),
                   .remedy = "take a longer text or shorter windows"});
  }
  // One byte is needed after the last window, as its last label.
  const std::uint64_t count = (source->size() - 1) / options.tokens;
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    return Status(
        StatusCode::resource_exhausted,
        {.what = "text",
         .expected = fmt::format("at most {} windows", std::numeric_limits<std::uint32_t>::max()),
         .got = fmt::format("{}", count),
         .remedy = "take longer windows, or split the text"});
  }
  return std::unique_ptr<DataSet>(
      std::make_unique<Text>(std::move(source), options, static_cast<std::uint32_t>(count)));
}

}  // namespace tributary
