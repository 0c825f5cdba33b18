#include "core/data/formats/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/blanks.h"
#include "core/data/limits.h"

namespace tributary {
namespace {

// Characters of a field that an error quotes.
constexpr std::size_t kShownMax = 40;

// Quotes a field for an error, bounded in length and without control characters.
std::string shown(std::string_view field) {
  std::string text;
  for (const char c : field.substr(0, kShownMax)) text += c >= ' ' && c <= '~' ? c : '?';
  return fmt::format("'{}{}'", text, field.size() > kShownMax ? "..." : "");
}

// Splits the text into records, one per call of next().
class Records {
 public:
  Records(std::string_view text, char separator, std::uint32_t columns_max)
      : text_(text), separator_(separator), columns_max_(columns_max) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  // Reads the next record that is not empty; false at the end of the text.
  Result<bool> next(std::vector<std::string>& fields) {
    while (at_ < text_.size()) {
      line_ = next_line_;
      fields.clear();
      TRIBUTARY_TRY(read_record(fields));
      if (fields.size() > 1 || !without_blanks(fields[0]).empty()) return true;
    }
    return false;
  }
  std::uint64_t line() const { return line_; }

  Status fault(std::size_t column, std::string expected, std::string got,
               std::string remedy = "") const {
    return Status(StatusCode::corrupt_data,
                  {.what = fmt::format("line {}, column {}", line_, column + 1),
                   .expected = std::move(expected),
                   .got = std::move(got),
                   .remedy = std::move(remedy)});
  }

 private:
  // Reads fields up to the end of the line. \n, \r\n and \r end a line.
  Status read_record(std::vector<std::string>& fields) {
    for (;;) {
      if (fields.size() == columns_max_) {
        return Status(StatusCode::resource_exhausted,
                      {.what = fmt::format("line {}", line_),
                       .expected = fmt::format("at most {} columns", columns_max_),
                       .got = "more",
                       .remedy = "check the separator"});
      }
      fields.emplace_back();
      TRIBUTARY_TRY(read_field(fields.size() - 1, fields.back()));
      if (at_ == text_.size()) return {};
      const char end = text_[at_++];
      if (end == separator_) continue;
      if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
      ++next_line_;
      return {};
    }
  }

  bool at_end_of_field() const {
    return at_ == text_.size() || text_[at_] == separator_ || text_[at_] == '\n' ||
           text_[at_] == '\r';
  }

  Status read_field(std::size_t column, std::string& field) {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted(column, field);
    const std::size_t begin = at_;
    while (!at_end_of_field()) ++at_;
    field = text_.substr(begin, at_ - begin);
    return {};
  }

  // Reads a field in quotes. Two quotes stand for one, and the field may contain line ends, which
  // count as lines of the file.
  Status read_quoted(std::size_t column, std::string& field) {
    for (++at_;; ++at_) {
      if (at_ == text_.size()) return fault(column, "a closing quote", "the end of the file");
      if (text_[at_] == '\n') ++next_line_;
      if (text_[at_] == '"') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '"') break;
      }
      field += text_[at_];
    }
    if (at_end_of_field()) return {};
    return fault(column, "the end of the field behind a closing quote", shown(text_.substr(at_, 1)),
                 "a quote inside quotes is written twice");
  }

  const std::string_view text_;
  const char separator_;
  const std::uint32_t columns_max_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
  // Line of the next record; line_ is the line in which the current record began.
  std::uint64_t next_line_ = 1;
};

// A number that is too large for a double still counts as a number here, so that its line is
// reported as a bad value and not taken for a header.
bool is_number(std::string_view field) {
  field = without_blanks(field);
  if (field.starts_with('+')) field.remove_prefix(1);
  double value;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  return end == field.data() + field.size() && error != std::errc::invalid_argument;
}

// Parses a number as double first: the text may have more digits than a float.
Result<float> parse_value(const Records& records, std::size_t column, std::string_view field) {
  std::string_view digits = without_blanks(field);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value);
  if (error == std::errc() && end == last && std::abs(value) <= std::numeric_limits<float>::max()) {
    return static_cast<float>(value);
  }
  return records.fault(column, "a finite number that a float32 can hold",
                       digits.empty() ? "nothing" : shown(field),
                       "every example needs every feature: fill the gap or remove the line");
}

Result<std::uint16_t> parse_label(const Records& records, std::size_t column,
                                  std::string_view field, std::uint32_t classes) {
  TRIBUTARY_ASSIGN(const float value, parse_value(records, column, field));
  // Spreadsheets write classes as "3.0"; such a value is accepted.
  if (value >= 0 && value < static_cast<float>(classes) && value == std::floor(value)) {
    return static_cast<std::uint16_t>(value);
  }
  return records.fault(column, fmt::format("a class: a whole number from 0 to {}", classes - 1),
                       shown(field), "number the classes from 0 on, or state how many there are");
}

std::string column_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (text.size() > 200) return text + ", ...";
    text += (text.empty() ? "" : ", ") + shown(without_blanks(name));
  }
  return text;
}

// A name in the header takes precedence over a column number.
Result<std::size_t> find_label(const CsvOptions& options, const std::vector<std::string>& first,
                               bool has_header) {
  if (options.label.empty()) return first.size() - 1;
  if (has_header) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (without_blanks(first[i]) == options.label) return i;
    }
  }
  std::size_t number = 0;
  const char* const last = options.label.data() + options.label.size();
  const auto [end, error] = std::from_chars(options.label.data(), last, number);
  if (error == std::errc() && end == last && number >= 1 && number <= first.size()) {
    return number - 1;
  }
  return Status(StatusCode::not_found,
                {.what = "label column",
                 .expected = has_header ? fmt::format("one of {}", column_names(first))
                                        : fmt::format("a number from 1 to {}", first.size()),
                 .got = shown(options.label)});
}

Status check_options(const CsvOptions& options) {
  if (options.classes == 1 || options.classes > kClassesMax) {
    return Status(StatusCode::invalid_argument,
                  {.what = "number of classes",
                   .expected = fmt::format("2 to {}, or 0 for a regression", kClassesMax),
                   .got = fmt::format("{}", options.classes)});
  }
  if (options.separator == '"' || options.separator == '\n' || options.separator == '\r') {
    return Status(StatusCode::invalid_argument, {.what = "separator of a CSV file",
                                                 .expected = "a character such as ',' or ';'",
                                                 .got = "a quote or the end of a line"});
  }
  return check_scales(options.scales);
}

// Collects records in a FeatureTable and checks them one by one.
class TableBuilder {
 public:
  TableBuilder(const CsvOptions& options, const CsvLimits& limits)
      : options_(options), limits_(limits) {}

  // Determines the columns and the label from the first line. The line is an example unless it is a
  // header.
  Status begin(const Records& records, const std::vector<std::string>& first) {
    bool has_header = options_.header == CsvHeader::yes;
    if (options_.header == CsvHeader::automatic) {
      for (const std::string& field : first) has_header |= !is_number(field);
    }
    columns_ = first.size();
    TRIBUTARY_ASSIGN(label_column_, find_label(options_, first, has_header));
    if (columns_ < 2) {
      return records.fault(0, "two columns or more, one of them the label", "one",
                           "check the separator");
    }
    if (options_.scales.size() > 1 && options_.scales.size() != columns_ - 1) {
      return Status(StatusCode::mismatch,
                    {.what = "scales of the columns",
                     .expected = fmt::format("one, or {}, one for each feature", columns_ - 1),
                     .got = fmt::format("{}", options_.scales.size()),
                     .remedy = "state mean and deviation for each column but the label"});
    }
    ExampleShape& shape = csv_.table.shape;
    const bool regression = options_.classes == 0;
    shape.task = regression ? DataTask::regression : DataTask::classification;
    shape.dims = {static_cast<std::uint32_t>(columns_ - 1)};
    shape.classes = options_.classes;
    shape.outputs = regression ? 1 : 0;
    if (!has_header) return add(records, first);
    for (std::size_t i = 0; i < columns_; ++i) {
      (i == label_column_ ? csv_.label : csv_.names.emplace_back()) = without_blanks(first[i]);
    }
    return {};
  }

  Status add(const Records& records, const std::vector<std::string>& fields) {
    if (fields.size() != columns_) {
      return records.fault(std::min(fields.size(), columns_) - 1,
                           fmt::format("{} columns, as in the first line", columns_),
                           fmt::format("{}", fields.size()));
    }
    FeatureTable& table = csv_.table;
    // A division, not a multiplication, so the comparison cannot overflow.
    if (++count_ > limits_.memory_bytes_max / (columns_ * sizeof(float)) ||
        count_ > std::numeric_limits<std::uint32_t>::max()) {
      return Status(StatusCode::resource_exhausted,
                    {.what = fmt::format("line {}", records.line()),
                     .expected = fmt::format("at most {} bytes of values, which are held in memory",
                                             limits_.memory_bytes_max),
                     .got = "more",
                     .remedy = "split the file, or raise the limit"});
    }
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i == label_column_ && options_.classes > 0) {
        TRIBUTARY_ASSIGN(const std::uint16_t label,
                         parse_label(records, i, fields[i], options_.classes));
        table.labels.push_back(label);
        continue;
      }
      TRIBUTARY_ASSIGN(const float value, parse_value(records, i, fields[i]));
      if (i == label_column_) {
        table.targets.push_back(value);
        continue;
      }
      const float scaled = scale(i > label_column_ ? i - 1 : i, value);
      if (!std::isfinite(scaled)) return records.fault(i, "a number within its scale", fields[i]);
      table.features.push_back(scaled);
    }
    return {};
  }

  Result<CsvTable> finish() && {
    if (count_ > 0) return std::move(csv_);
    return Status(StatusCode::corrupt_data,
                  {.what = "CSV file", .expected = "one line per example", .got = "none"});
  }

 private:
  float scale(std::size_t feature, float value) const {
    if (options_.scales.empty()) return value;
    const FeatureScale& scale = options_.scales[options_.scales.size() == 1 ? 0 : feature];
    return static_cast<float>((static_cast<double>(value) - scale.mean) / scale.deviation);
  }

  const CsvOptions& options_;
  const CsvLimits& limits_;
  CsvTable csv_;
  std::size_t columns_ = 0;
  std::size_t label_column_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

Result<CsvTable> parse_csv(ByteSpan text, const CsvOptions& options, const CsvLimits& limits) {
  TRIBUTARY_TRY(check_options(options));
  Records records({reinterpret_cast<const char*>(text.data()), text.size()}, options.separator,
                  limits.columns_max);
  TableBuilder builder(options, limits);
  std::vector<std::string> fields;
  TRIBUTARY_ASSIGN(bool more, records.next(fields));
  if (more) TRIBUTARY_TRY(builder.begin(records, fields));
  while (more) {
    TRIBUTARY_ASSIGN(more, records.next(fields));
    if (more) TRIBUTARY_TRY(builder.add(records, fields));
  }
  return std::move(builder).finish();
}

}  // namespace tributary
