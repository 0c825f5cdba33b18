// Which files a data set consists of, by their names alone.
#pragma once

#include <string>
#include <vector>

#include "core/data/formats/open.h"

namespace tributary {

struct DataFiles {
  DataFormat format = DataFormat::automatic;
  std::vector<std::string> paths;  // of IDX: images, labels
};

Result<DataFiles> find_data_files(const DataRequest& request);

}  // namespace tributary
