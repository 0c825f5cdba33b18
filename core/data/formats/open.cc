#include "core/data/formats/open.h"

#include <array>
#include <utility>

#include "core/data/formats/cifar.h"
#include "core/data/formats/files.h"
#include "core/data/formats/idx.h"

namespace tributary {
namespace {

// In the order of DataFormat.
constexpr auto kFormatNames = std::to_array<std::string_view>(
    {"auto", "idx", "cifar10", "cifar100", "cifar100-coarse", "csv", "text"});

using Sources = std::vector<std::shared_ptr<const ByteSource>>;

CifarKind cifar_kind(DataFormat format) {
  if (format == DataFormat::cifar10) return CifarKind::cifar10;
  return format == DataFormat::cifar100 ? CifarKind::cifar100_fine : CifarKind::cifar100_coarse;
}

// The size is checked before the text is read, so a huge file cannot exhaust the memory.
Result<std::unique_ptr<DataSet>> open_csv(const DataRequest& request, const ByteSource& source,
                                          std::vector<std::string>& columns) {
  if (source.size() > request.limits.memory_bytes_max) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "CSV file",
                   .expected = std::to_string(request.limits.memory_bytes_max) +
                               " bytes at most, as tables are held in memory",
                   .got = std::to_string(source.size()),
                   .remedy = "split the file"});
  }
  Bytes text(source.size());
  TRIBUTARY_TRY(source.read(0, text));
  CsvOptions options = request.csv;
  options.scales = request.scales;
  TRIBUTARY_ASSIGN(CsvTable csv,
                   parse_csv(text, options, {.memory_bytes_max = request.limits.memory_bytes_max}));
  columns = std::move(csv.names);
  return make_table(std::move(csv.table));
}

// Adds the file's name to an error about its content.
Result<std::unique_ptr<DataSet>> named(const std::string& path,
                                       Result<std::unique_ptr<DataSet>> data) {
  if (data.ok()) return data;
  return std::move(data).status().at(path);
}

// The scale of pictures, which is the same for all channels.
Result<FeatureScale> picture_scale(const DataRequest& request) {
  if (request.scales.empty()) return FeatureScale{};
  if (request.scales.size() == 1) return request.scales[0];
  return Status(StatusCode::mismatch, {.what = "scale of pictures",
                                       .expected = "one mean and one deviation",
                                       .got = std::to_string(request.scales.size()),
                                       .remedy = "only tables have a scale for each column"});
}

Result<std::unique_ptr<DataSet>> open_files(const DataRequest& request, const DataFiles& files,
                                            std::vector<std::string>& columns) {
  Sources sources;
  for (const std::string& path : files.paths) {
    TRIBUTARY_ASSIGN(auto source, open_source(path, request.limits));
    sources.push_back(std::move(source));
  }
  const bool pictures = files.format != DataFormat::csv && files.format != DataFormat::text;
  FeatureScale scale;
  if (pictures) {
    TRIBUTARY_ASSIGN(scale, picture_scale(request));
  }
  switch (files.format) {
    case DataFormat::idx:
      return named(files.paths[0],
                   make_idx(sources[0], *sources[1], {.classes = request.classes, .scale = scale}));
    case DataFormat::csv:
      return named(files.paths[0], open_csv(request, *sources[0], columns));
    case DataFormat::text:
      return named(files.paths[0], make_text(sources[0], request.text));
    default:
      return make_cifar(sources, files.paths, cifar_kind(files.format), scale);
  }
}

}  // namespace

std::span<const std::string_view> data_format_names() { return kFormatNames; }

std::string_view name(DataFormat format) { return kFormatNames[static_cast<std::size_t>(format)]; }

std::string_view name(DataPart part) { return part == DataPart::train ? "train" : "test"; }

Result<OpenedData> open_data(const DataRequest& request) {
  TRIBUTARY_ASSIGN(DataFiles files, find_data_files(request));
  OpenedData opened;
  TRIBUTARY_ASSIGN(opened.data, open_files(request, files, opened.columns));
  opened.format = files.format;
  opened.files = std::move(files.paths);
  return opened;
}

}  // namespace tributary
