#include "core/data/formats/cifar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace tributary {
namespace {

// Labels are stored between the pixels, so the whole file is read once, 256 records at a time.
Status append_labels(const ByteSource& source, CifarKind kind, std::vector<std::uint16_t>& labels) {
  constexpr std::uint64_t kRecordsAtOnce = 256;
  const std::uint64_t record = cifar_record_bytes(kind);
  const std::size_t place = kind == CifarKind::cifar100_fine ? 1 : 0;
  Bytes records;
  for (std::uint64_t at = 0; at < source.size(); at += records.size()) {
    records.resize(std::min(source.size() - at, kRecordsAtOnce * record));
    TRIBUTARY_TRY(source.read(at, records));
    for (std::size_t i = place; i < records.size(); i += record) labels.push_back(records[i]);
  }
  return {};
}

Status add_file(const std::shared_ptr<const ByteSource>& source, CifarKind kind,
                StoredExamples& examples) {
  const std::uint64_t record = cifar_record_bytes(kind);
  if (source->size() == 0 || source->size() % record != 0) {
    return Status(
        StatusCode::corrupt_data,
        {.what = "CIFAR file",
         .expected = fmt::format("examples of {} bytes each", record),
         .got = fmt::format("{} bytes, {} too many", source->size(), source->size() % record),
         .remedy = "the file is damaged or incomplete, or it is of the other "
                   "kind (CIFAR-10 or CIFAR-100)"});
  }
  const std::uint64_t count = source->size() / record;
  constexpr std::uint64_t kCountMax = std::numeric_limits<std::uint32_t>::max();
  if (count > kCountMax - examples.labels.size()) {
    return Status(StatusCode::resource_exhausted,
                  {.what = "CIFAR files",
                   .expected = fmt::format("at most {} examples", kCountMax),
                   .got = "more"});
  }
  TRIBUTARY_TRY(append_labels(*source, kind, examples.labels));
  examples.runs.push_back({.source = source,
                           .offset = record - kCifarPixelBytes,
                           .stride = record,
                           .count = static_cast<std::uint32_t>(count)});
  return {};
}

}  // namespace

Result<std::unique_ptr<DataSet>> make_cifar(
    std::span<const std::shared_ptr<const ByteSource>> files, std::span<const std::string> names,
    CifarKind kind, const FeatureScale& scale) {
  assert(files.size() == names.size());
  StoredExamples examples;
  examples.shape.dims = {3, kCifarSide, kCifarSide};
  examples.shape.classes = cifar_classes(kind);
  for (std::size_t i = 0; i < files.size(); ++i) {
    Status status = add_file(files[i], kind, examples);
    if (!status.ok()) return std::move(status).at(names[i]);
  }
  return make_stored(std::move(examples), scale);
}

}  // namespace tributary
