#include "cli/accept.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

#include "core/base/nearest.h"
#include "core/codec/registry.h"

namespace tributary {
namespace {

// A unit prefix of a count, as the operator types it.
struct Suffix {
  std::string_view text;
  std::uint64_t factor;
};
// SI suffixes are powers of 1000, IEC suffixes powers of 1024.
constexpr std::array<Suffix, 7> kSuffixes = {{{"", 1},
                                              {"k", 1'000},
                                              {"M", 1'000'000},
                                              {"G", 1'000'000'000},
                                              {"Ki", 1ull << 10},
                                              {"Mi", 1ull << 20},
                                              {"Gi", 1ull << 30}}};

// Commands write files atomically, which is impossible for a pipe.
Result<std::string> file_name(const std::string& value) {
  if (!value.empty() && value != "-") return value;
  return Status(
      StatusCode::invalid_argument,
      {.what = "value",
       .expected = "the name of a file",
       .got = fmt::format("'{}'", value),
       .remedy = "standard input and output are not supported; use './-' for a file named '-'"});
}

}  // namespace

// Signs, fractions and blanks are refused, because from_chars() accepts none for unsigned numbers.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto refuse = [&](std::string remedy) {
    return Status(StatusCode::invalid_argument,
                  {.what = "value",
                   .expected = max == std::numeric_limits<std::uint64_t>::max()
                                   ? fmt::format("a whole number of {} or more", min)
                                   : fmt::format("a whole number from {} to {}", min, max),
                   .got = fmt::format("'{}'", text),
                   .remedy = std::move(remedy)});
  };
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return refuse("");
  const std::string_view suffix_text(rest, static_cast<std::size_t>(end - rest));
  for (const Suffix& suffix : kSuffixes) {
    if (suffix.text != suffix_text) continue;
    // Checked before the multiplication, which would overflow.
    if (number > std::numeric_limits<std::uint64_t>::max() / suffix.factor) return refuse("");
    number *= suffix.factor;
    if (number < min || number > max) return refuse("");
    return number;
  }
  return refuse("a number may end in k, M, G, Ki, Mi or Gi");
}

// Accepts the whole text only: "3x" is not 3. NaN is refused, because it compares false with both
// limits.
Accept accept_real(double& target, double low, double high) {
  return [&target, low, high](const std::string& value) -> Status {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = error == std::errc() && end == value.data() + value.size();
    if (whole && number >= low && number <= high) {
      target = number;
      return {};
    }
    return Status(StatusCode::invalid_argument,
                  {.what = "value",
                   .expected = fmt::format("a number from {} to {}", low, high),
                   .got = fmt::format("'{}'", value)});
  };
}

Accept accept_flag(bool& target, bool value) {
  return [&target, value](const std::string&) -> Status {
    target = value;
    return {};
  };
}

Accept accept_text(std::string& target) {
  return [&target](const std::string& value) -> Status {
    target = value;
    return {};
  };
}

Accept accept_file(std::string& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(target, file_name(value));
    return {};
  };
}

Accept accept_files(std::vector<std::string>& target) {
  return [&target](const std::string& value) -> Status {
    TRIBUTARY_ASSIGN(std::string name, file_name(value));
    target.push_back(std::move(name));
    return {};
  };
}

// An unknown value is answered with all choices and the nearest one.
Accept accept_choice(std::size_t& target, std::span<const std::string_view> choices) {
  return [&target, choices](const std::string& value) -> Status {
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] != value) continue;
      target = i;
      return {};
    }
    return Status(StatusCode::invalid_argument,
                  {.what = "value",
                   .expected = fmt::format("{}", fmt::join(choices, "|")),
                   .got = fmt::format("'{}'", value),
                   .remedy = did_you_mean(value, choices)});
  };
}

// Making the codec checks its parameters; its own error names the wrong one.
Accept accept_codec(std::unique_ptr<Codec>& target) {
  return [&target](const std::string& spec) -> Status {
    TRIBUTARY_ASSIGN(target, make_codec(spec));
    return {};
  };
}

Accept accept_codecs(std::vector<std::unique_ptr<Codec>>& target) {
  return [&target](const std::string& spec) -> Status {
    TRIBUTARY_ASSIGN(std::unique_ptr<Codec> codec, make_codec(spec));
    target.push_back(std::move(codec));
    return {};
  };
}

}  // namespace tributary
