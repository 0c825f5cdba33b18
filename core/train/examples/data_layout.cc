#include "core/train/examples/data_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace tributary {
namespace {

// More columns than a table may have (core/data/formats/csv.h) are a mistake.
constexpr std::size_t kScalesMax = 65536;

Status bad_layout(std::string_view key, std::string_view expected, std::string_view got) {
  return Status(StatusCode::invalid_argument, {.what = fmt::format("job: {}", key),
                                               .expected = std::string(expected),
                                               .got = fmt::format("'{}'", got),
                                               .remedy = "correct the job"});
}

Result<char> separator_of(std::string_view text) {
  if (text.empty()) return ',';
  if (text == "tab") return '\t';
  if (text.size() == 1 && text != "\"" && text != "\n" && text != "\r") return text.front();
  return bad_layout("separator", "one character, or 'tab'", text);
}

// Numbers joined by commas, with or without blanks behind each comma.
Result<std::vector<double>> numbers_of(std::string_view key, std::string_view text) {
  std::vector<double> numbers;
  for (std::string_view rest = text; !text.empty();) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error != std::errc() || numbers.size() == kScalesMax ||
        (!rest.empty() && rest.front() != ',')) {
      return bad_layout(key, "numbers joined by commas, as 5.8, 3.1", text);
    }
    numbers.push_back(number);
    if (rest.empty()) break;
    rest.remove_prefix(1);
  }
  return numbers;
}

}  // namespace

Result<DataLayout> parse_layout(const DataLayoutText& text) {
  DataLayout layout = {.label = text.label};
  TRIBUTARY_ASSIGN(layout.separator, separator_of(text.separator));
  TRIBUTARY_ASSIGN(const std::vector<double> means, numbers_of("mean", text.mean));
  TRIBUTARY_ASSIGN(const std::vector<double> deviations, numbers_of("deviation", text.deviation));
  if (!means.empty() && !deviations.empty() && means.size() != deviations.size()) {
    return bad_layout("deviation", fmt::format("{} numbers, as many as in mean", means.size()),
                      text.deviation);
  }
  layout.scales.resize(std::max(means.size(), deviations.size()));
  for (std::size_t i = 0; i < layout.scales.size(); ++i) {
    if (!means.empty()) layout.scales[i].mean = means[i];
    if (!deviations.empty()) layout.scales[i].deviation = deviations[i];
  }
  TRIBUTARY_TRY(check_scales(layout.scales));
  return layout;
}

}  // namespace tributary
