#include "core/data/formats/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace tributary {
namespace {

namespace fs = std::filesystem;

// A fixed bound on the numbers that are probed in a folder. CIFAR-10 itself has 5 batches.
constexpr unsigned kBatchesMax = 99;

bool present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The file of that name, or else the same name with ".gz".
std::optional<std::string> plain_or_gz(const fs::path& path) {
  for (const char* suffix : {"", ".gz"}) {
    const std::string candidate = path.string() + suffix;
    if (present(candidate)) return candidate;
  }
  return std::nullopt;
}

Status missing(const fs::path& path, std::string_view what, std::string remedy) {
  return Status(StatusCode::not_found, {.what = fmt::format("'{}'", path.string()),
                                        .expected = std::string(what),
                                        .got = "no such file",
                                        .remedy = std::move(remedy)});
}

// Replaces the last occurrence, so that the folder's own name does not matter.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.rfind(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// Finds the labels of an image file: "train-images-idx3-ubyte.gz" belongs to
// "train-labels-idx1-ubyte", which may be compressed or not.
Result<DataFiles> idx_pair(const fs::path& images) {
  const std::string name = images.filename();
  if (name.find("images") == std::string::npos) {
    return Status(StatusCode::not_found,
                  {.what = fmt::format("labels of '{}'", images.string()),
                   .expected = "a file of images with 'images' in its name, so that the one with "
                               "'labels' instead can be found",
                   .got = fmt::format("'{}'", name),
                   .remedy = "name the file of images as the MNIST family does"});
  }
  std::string labels = replaced(replaced(name, "images", "labels"), "idx3", "idx1");
  if (labels.ends_with(".gz")) labels.resize(labels.size() - 3);
  const auto found = plain_or_gz(images.parent_path() / labels);
  if (!found) {
    return missing(images.parent_path() / labels, "the labels, plain or .gz",
                   "images and labels come in pairs: put both into one folder");
  }
  return DataFiles{DataFormat::idx, {images.string(), *found}};
}

// MNIST calls its test files t10k; related sets also use "test", and a dot instead of the dash.
std::optional<std::string> idx_images(const fs::path& folder, DataPart part) {
  constexpr auto kTrain = std::to_array<const char*>({"train"});
  constexpr auto kTest = std::to_array<const char*>({"t10k", "test"});
  const auto prefixes = part == DataPart::train ? std::span<const char* const>(kTrain)
                                                : std::span<const char* const>(kTest);
  for (const char* prefix : prefixes) {
    for (const char* rest : {"-images-idx3-ubyte", "-images.idx3-ubyte"}) {
      if (auto found = plain_or_gz(folder / (std::string(prefix) + rest))) return found;
    }
  }
  return std::nullopt;
}

// A gap in the numbers is reported as a missing file and is not taken for the end of the series.
Result<std::vector<std::string>> cifar10_batches(const fs::path& folder) {
  const auto batch = [&](unsigned number) {
    return folder / fmt::format("data_batch_{}.bin", number);
  };
  unsigned last = 0;
  for (unsigned i = 1; i <= kBatchesMax; ++i) {
    if (present(batch(i))) last = i;
  }
  std::vector<std::string> paths;
  for (unsigned i = 1; i <= last; ++i) {
    if (!present(batch(i))) {
      return missing(batch(i), fmt::format("the batches 1 to {}", last),
                     "a part of the training data is missing: copy it again");
    }
    paths.push_back(batch(i));
  }
  return paths;
}

// Empty if the folder has no files of that format and part.
Result<std::optional<DataFiles>> look_for(const fs::path& folder, DataFormat format,
                                          DataPart part) {
  const auto one_file = [&](const fs::path& path) -> std::optional<DataFiles> {
    if (!present(path)) return std::nullopt;
    return DataFiles{format, {path.string()}};
  };
  const std::string stem(name(part));
  switch (format) {
    case DataFormat::idx: {
      const auto images = idx_images(folder, part);
      if (!images) return std::optional<DataFiles>();
      TRIBUTARY_ASSIGN(DataFiles files, idx_pair(*images));
      return std::optional(std::move(files));
    }
    case DataFormat::cifar10: {
      if (part == DataPart::test) return one_file(folder / "test_batch.bin");
      TRIBUTARY_ASSIGN(std::vector<std::string> paths, cifar10_batches(folder));
      if (paths.empty()) return std::optional<DataFiles>();
      return std::optional(DataFiles{format, std::move(paths)});
    }
    case DataFormat::cifar100:
    case DataFormat::cifar100_coarse:
      return one_file(folder / (stem + ".bin"));
    case DataFormat::csv:
      return one_file(folder / (stem + ".csv"));
    case DataFormat::text:
      return one_file(folder / (stem + ".txt"));
    case DataFormat::automatic:
      break;
  }
  return std::optional<DataFiles>();
}

// The file names that an error mentions.
std::string names_looked_for(DataFormat format, DataPart part) {
  const bool train = part == DataPart::train;
  switch (format) {
    case DataFormat::idx:
      return fmt::format("{0}-images-idx3-ubyte and {0}-labels-idx1-ubyte",
                         train ? "train" : "t10k");
    case DataFormat::cifar10:
      return train ? "data_batch_1.bin" : "test_batch.bin";
    case DataFormat::cifar100:
    case DataFormat::cifar100_coarse:
      return fmt::format("{}.bin", name(part));
    case DataFormat::csv:
      return fmt::format("{}.csv", name(part));
    case DataFormat::text:
      return fmt::format("{}.txt", name(part));
    case DataFormat::automatic:
      break;
  }
  std::vector<std::string> all;
  for (const DataFormat each : {DataFormat::idx, DataFormat::cifar10, DataFormat::cifar100,
                                DataFormat::csv, DataFormat::text}) {
    all.push_back(names_looked_for(each, part));
  }
  return fmt::format("{}", fmt::join(all, ", or "));
}

// With format `automatic`, exactly one format must be found: two would make the choice depend on
// the order of the attempts.
Result<DataFiles> in_folder(const DataRequest& request) {
  std::vector<DataFormat> formats = {request.format};
  if (request.format == DataFormat::automatic) {
    formats = {DataFormat::idx, DataFormat::cifar10, DataFormat::cifar100, DataFormat::csv,
               DataFormat::text};
  }
  std::vector<DataFiles> found;
  for (const DataFormat format : formats) {
    TRIBUTARY_ASSIGN(auto files, look_for(request.path, format, request.part));
    if (files) found.push_back(std::move(*files));
  }
  if (found.size() == 1) return std::move(found[0]);
  if (found.empty()) {
    return missing(request.path, names_looked_for(request.format, request.part),
                   "name the right folder or one file, or draw a data set with "
                   "'tributary data make'");
  }
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("'{}'", request.path),
                 .expected = "the files of one data set",
                 .got = fmt::format("{} and {}", name(found[0].format), name(found[1].format)),
                 .remedy = "state the format, for example with --format csv"});
}

// The format of a single file, from its name; `automatic` if the name does not determine it.
DataFormat guessed(const fs::path& path) {
  fs::path file = path.filename();
  if (file.extension() == ".gz") file = file.stem();
  const std::string name = file;
  if (file.extension() == ".csv") return DataFormat::csv;
  if (file.extension() == ".txt") return DataFormat::text;
  if (name.find("ubyte") != std::string::npos) return DataFormat::idx;
  if (name.starts_with("data_batch_") || name.starts_with("test_batch")) return DataFormat::cifar10;
  if (name == "train.bin" || name == "test.bin") return DataFormat::cifar100;
  return DataFormat::automatic;
}

}  // namespace

Result<DataFiles> find_data_files(const DataRequest& request) {
  std::error_code error;
  const fs::file_status status = fs::status(request.path, error);
  if (!fs::exists(status)) return missing(request.path, "a folder or a file", "check the path");
  if (fs::is_directory(status)) return in_folder(request);
  const DataFormat format =
      request.format == DataFormat::automatic ? guessed(request.path) : request.format;
  if (format == DataFormat::automatic) {
    return Status(StatusCode::unsupported,
                  {.what = fmt::format("'{}'", request.path),
                   .expected = "a name that tells the format, such as train-images-idx3-ubyte, "
                               "data_batch_1.bin, x.csv or x.txt",
                   .got = "none of them",
                   .remedy = "state the format, for example with --format csv"});
  }
  if (format == DataFormat::idx) return idx_pair(request.path);
  return DataFiles{format, {request.path}};
}

}  // namespace tributary
