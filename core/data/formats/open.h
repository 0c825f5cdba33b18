// From a path to a data set: which format it is, and which of a folder's files belong together.
//
//   idx       {train,t10k}-images-idx3-ubyte and -labels-idx1-ubyte, each also with .gz
//   cifar10   data_batch_1.bin, data_batch_2.bin, ... and test_batch.bin
//   cifar100  train.bin and test.bin
//   csv       train.csv and test.csv
//   text      train.txt and test.txt
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

enum class DataFormat : std::uint8_t {
  automatic,
  idx,
  cifar10,
  cifar100,         // the 100 fine labels
  cifar100_coarse,  // the 20 coarse ones
  csv,
  text,
};

// In the order of the enumerators: "auto", "idx", "cifar10", "cifar100", "cifar100-coarse", ...
std::span<const std::string_view> data_format_names();
std::string_view name(DataFormat format);

enum class DataPart : std::uint8_t { train, test };
std::string_view name(DataPart part);

struct DataRequest {
  std::string path;  // a folder, or a file: of IDX that of the images
  DataFormat format = DataFormat::automatic;
  DataPart part = DataPart::train;  // of a folder; a file is what it is
  std::uint32_t classes = 0;        // of IDX: 0 is the highest label and one, at least 10
  FeatureScale scale = {};          // of IDX and CIFAR
  CsvOptions csv = {};
  TextOptions text = {};
  DataLimits limits = {};
};

struct OpenedData {
  std::unique_ptr<DataSet> data;
  DataFormat format = DataFormat::automatic;
  std::vector<std::string> files;
  std::vector<std::string> columns;  // the features of a CSV file with a header
};

Result<OpenedData> open_data(const DataRequest& request);

}  // namespace tributary
