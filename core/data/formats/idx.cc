#include "core/data/formats/idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/data/limits.h"

namespace tributary {
namespace {

constexpr std::uint8_t kUnsignedBytes = 8;
// Examples have at most channel, height and width, so a file has at most four dimensions.
constexpr unsigned kDimsMax = 4;
constexpr std::size_t kPrefixBytes = 4;

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

Status truncated(std::uint64_t expected, std::uint64_t got) {
  return Status(StatusCode::corrupt_data, {.what = "IDX header",
                                           .expected = fmt::format("{} bytes", expected),
                                           .got = fmt::format("a file of {}", got),
                                           .remedy = "the file is incomplete: copy it again"});
}

Status check_prefix(const std::uint8_t* prefix) {
  if (prefix[0] != 0 || prefix[1] != 0) {
    return Status(StatusCode::corrupt_data,
                  {.what = "IDX header",
                   .expected = "two zero bytes at the beginning",
                   .got = fmt::format("{:02x} {:02x}", prefix[0], prefix[1]),
                   .remedy = "check that the file is an IDX file of images or labels"});
  }
  if (prefix[2] != kUnsignedBytes) {
    return Status(StatusCode::unsupported, {.what = "IDX header, type of the values",
                                            .expected = "8 (unsigned bytes)",
                                            .got = fmt::format("{}", prefix[2]),
                                            .remedy = "convert the values to unsigned bytes"});
  }
  if (prefix[3] == 0 || prefix[3] > kDimsMax) {
    return Status(StatusCode::corrupt_data, {.what = "IDX header, number of dimensions",
                                             .expected = fmt::format("1 to {}", kDimsMax),
                                             .got = fmt::format("{}", prefix[3])});
  }
  return {};
}

// The product of the dimensions must equal the bytes after the header.
Status check_size(const IdxHeader& header, std::uint64_t size) {
  // The check divides and does not multiply, so it cannot be deceived by a product that overflows.
  std::uint64_t data_bytes = size - header.bytes;
  bool fits = true;
  std::uint64_t values = 1;
  for (const std::uint32_t dim : header.dims) {
    if (dim != 0 && values > data_bytes / dim) fits = false;
    values *= dim;
  }
  if (fits && values == data_bytes) return {};
  return Status(StatusCode::corrupt_data,
                {.what = "IDX file",
                 .expected = fmt::format("{} values, one byte each, behind the header",
                                         fmt::join(header.dims, " x ")),
                 .got = fmt::format("{} bytes", data_bytes),
                 .remedy = "the file is damaged or incomplete: copy it again"});
}

Result<std::vector<std::uint16_t>> read_labels(const ByteSource& source) {
  TRIBUTARY_ASSIGN(const IdxHeader header, read_idx_header(source));
  if (header.dims.size() != 1) {
    return Status(StatusCode::mismatch, {.what = "IDX file of labels",
                                         .expected = "1 dimension",
                                         .got = fmt::format("{}", header.dims.size()),
                                         .remedy = "check that it is not the file of images"});
  }
  Bytes bytes(header.dims[0]);
  TRIBUTARY_TRY(source.read(header.bytes, bytes));
  return std::vector<std::uint16_t>(bytes.begin(), bytes.end());
}

// The first dimension counts the examples. A single remaining image plane gets one channel in
// front.
Result<ExampleShape> shape_of(const IdxHeader& images) {
  ExampleShape shape{.task = DataTask::classification,
                     .dims = {images.dims.begin() + 1, images.dims.end()}};
  if (shape.dims.empty()) {
    return Status(StatusCode::mismatch, {.what = "IDX file of images",
                                         .expected = "2 dimensions or more",
                                         .got = "1",
                                         .remedy = "check that it is not the file of labels"});
  }
  if (shape.dims.size() == 2) shape.dims.insert(shape.dims.begin(), 1);
  std::uint64_t values = 1;
  for (const std::uint32_t dim : shape.dims) {
    // `values` is at most 2^20 before each step, so the product stays below 2^52 and cannot
    // overflow.
    values *= dim;
    if (values == 0 || values > kExampleValuesMax) {
      return Status(StatusCode::corrupt_data,
                    {.what = "IDX header, values of an example",
                     .expected = fmt::format("1 to {}", kExampleValuesMax),
                     .got = fmt::format("{}", fmt::join(shape.dims, " x "))});
    }
  }
  return shape;
}

}  // namespace

Result<IdxHeader> read_idx_header(const ByteSource& source) {
  std::uint8_t prefix[kPrefixBytes];
  if (source.size() < sizeof(prefix)) return truncated(sizeof(prefix), source.size());
  TRIBUTARY_TRY(source.read(0, prefix));
  TRIBUTARY_TRY(check_prefix(prefix));
  IdxHeader header;
  header.bytes = kPrefixBytes + 4 * std::uint64_t{prefix[3]};
  if (source.size() < header.bytes) return truncated(header.bytes, source.size());
  for (std::uint64_t at = kPrefixBytes; at < header.bytes; at += 4) {
    std::uint8_t dim[4];
    TRIBUTARY_TRY(source.read(at, dim));
    header.dims.push_back(big_endian(dim));
  }
  TRIBUTARY_TRY(check_size(header, source.size()));
  return header;
}

Result<std::unique_ptr<DataSet>> make_idx(std::shared_ptr<const ByteSource> images,
                                          const ByteSource& labels, const IdxOptions& options) {
  auto read = read_idx_header(*images);
  if (!read.ok()) return std::move(read).status().at("images");
  const IdxHeader header = std::move(*read);
  StoredExamples examples;
  TRIBUTARY_ASSIGN(examples.shape, shape_of(header));
  auto read_of_labels = read_labels(labels);
  if (!read_of_labels.ok()) return std::move(read_of_labels).status().at("labels");
  examples.labels = std::move(*read_of_labels);
  if (examples.labels.size() != header.dims[0]) {
    return Status(StatusCode::mismatch,
                  {.what = "IDX files of images and labels",
                   .expected = fmt::format("one label for each of the {} images", header.dims[0]),
                   .got = fmt::format("{} labels", examples.labels.size()),
                   .remedy = "take both files from the same set (train or t10k)"});
  }
  examples.shape.classes = options.classes;
  if (options.classes == 0) {
    const auto highest = std::ranges::max_element(examples.labels);
    examples.shape.classes = highest == examples.labels.end()
                                 ? kClassesUsual
                                 : std::max<std::uint32_t>(kClassesUsual, *highest + 1u);
  }
  examples.runs.push_back({.source = std::move(images),
                           .offset = header.bytes,
                           .stride = examples.shape.values(),
                           .count = header.dims[0]});
  return make_stored(std::move(examples), options.scale);
}

Bytes idx_header(std::span<const std::uint32_t> dims) {
  Bytes header = {0, 0, kUnsignedBytes, static_cast<std::uint8_t>(dims.size())};
  for (const std::uint32_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      header.push_back(static_cast<std::uint8_t>(dim >> shift));
    }
  }
  return header;
}

}  // namespace tributary
