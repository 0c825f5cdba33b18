// Opens a data set from a path: determines the format, finds the files that belong together, and
// calls the loader. In a folder it looks for these names:
//
//   idx       {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, each also with .gz
//   cifar10   data_batch_1.bin, data_batch_2.bin, ... and test_batch.bin
//   cifar100  train.bin and test.bin
//   csv       train.csv and test.csv
//   text      train.txt and test.txt
//
// CSV files and compressed files are held in memory, within `limits`. All other files stay open and
// are read on demand. The functions may be called from any thread.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/data_set.h"
#include "core/data/formats/csv.h"
#include "core/data/formats/stored_examples.h"
#include "core/data/formats/text.h"
#include "core/data/source.h"

namespace tributary {

// Formats that this version reads.
enum class DataFormat : std::uint8_t {
  automatic,
  idx,
  cifar10,
  cifar100,         // the 100 fine labels
  cifar100_coarse,  // the 20 coarse ones
  csv,
  text,
};

// In the order of the enumerators: "auto", "idx", "cifar10", "cifar100", "cifar100-coarse", "csv",
// "text".
std::span<const std::string_view> data_format_names();
std::string_view name(DataFormat format);

enum class DataPart : std::uint8_t { train, test };
std::string_view name(DataPart part);

// The data set to open. Options of other formats than the one found are ignored.
struct DataRequest {
  std::string path;  // a folder, or one file; for IDX the image file
  DataFormat format = DataFormat::automatic;
  DataPart part = DataPart::train;  // selects files of a folder; ignored if `path` is a file
  std::uint32_t classes = 0;        // only for IDX; 0: the highest label plus one, but at least 10
  // For IDX and CIFAR at most one; for CSV also one for each column. Text has none.
  std::vector<FeatureScale> scales = {};
  CsvOptions csv = {};
  TextOptions text = {};
  DataLimits limits = {};
};

// The opened data set, and the files that it consists of.
struct OpenedData {
  std::unique_ptr<DataSet> data;
  DataFormat format = DataFormat::automatic;
  std::vector<std::string> files;
  // Names of the features of a CSV file with a header; empty otherwise.
  std::vector<std::string> columns;
};

// Fails as find_data_files() (files.h) and the format's loader do; errors about content name the
// file.
Result<OpenedData> open_data(const DataRequest& request);

}  // namespace tributary
