#include "cli/data/data_options.h"

#include <fmt/format.h>

#include <array>

#include "core/data/limits.h"

namespace tributary {
namespace {

// In the order of their enumerations, because accept_name() converts an index to a value.
constexpr auto kParts = std::to_array<std::string_view>({"train", "test"});
constexpr auto kVocabularies = std::to_array<std::string_view>({"printable", "bytes"});

// The names must be in the order of the enumeration.
template <typename Enum>
Accept accept_name(Enum& target, std::span<const std::string_view> names) {
  return [&target, names](const std::string& value) -> Status {
    std::size_t index = 0;
    TRIBUTARY_TRY(accept_choice(index, names)(value));
    target = static_cast<Enum>(index);
    return {};
  };
}

// A tab is named, because shells make it hard to type one.
Accept accept_separator(char& target) {
  return [&target](const std::string& value) -> Status {
    if (value == "tab") {
      target = '\t';
      return {};
    }
    if (value.size() == 1) {
      target = value[0];
      return {};
    }
    return Status(StatusCode::invalid_argument, {.what = "separator",
                                                 .expected = "one character, or 'tab'",
                                                 .got = fmt::format("'{}'", value)});
  };
}

}  // namespace

std::vector<Option> data_options(DataRequest& request) {
  return {{.name = "PATH",
           .value_name = "PATH",
           .help = "folder or file with the data",
           .accept = accept_file(request.path),
           .required = true},
          {.name = "--format",
           .value_name = "FORMAT",
           .help = "auto, idx, cifar10, cifar100, cifar100-coarse, csv or text (auto)",
           .accept = accept_name(request.format, data_format_names())},
          {.name = "--part",
           .value_name = "PART",
           .help = "part of a folder: train or test (train)",
           .accept = accept_name(request.part, kParts)},
          {.name = "--classes",
           .value_name = "N",
           .help = "number of classes. CSV: 0 means a regression (0).\n"
                   "IDX: at least 10 (the highest label + 1)",
           .accept = [&request](const std::string& value) -> Status {
             TRIBUTARY_TRY(accept_count(request.classes, 0u, kClassesMax)(value));
             // The reader of IDX files takes the first, the reader of CSV files the second.
             request.csv.classes = request.classes;
             return {};
           }},
          {.name = "--label",
           .value_name = "COLUMN",
           .help = "CSV: column to learn, by name or number (the last one)",
           .accept = [&request](const std::string& value) -> Status {
             request.csv.label = value;
             return {};
           }},
          {.name = "--separator",
           .value_name = "CHAR",
           .help = "CSV: separator (,)",
           .accept = accept_separator(request.csv.separator)},
          {.name = "--tokens",
           .value_name = "N",
           .help = "text: characters per example (64)",
           .accept = accept_count(request.text.tokens, 1u, kExampleValuesMax)},
          {.name = "--vocabulary",
           .value_name = "NAME",
           .help = "text: printable (97 tokens) or bytes (256) (printable)",
           .accept = accept_name(request.text.vocabulary, kVocabularies)}};
}

}  // namespace tributary
