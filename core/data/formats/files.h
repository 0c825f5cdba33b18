// Finds the files of a data set by their names; it never looks at their content.
//
// Reads folders, changes nothing and keeps nothing open. Names are compared in a fixed order, so
// every agent with the same files gets the same list.
#pragma once

#include <string>
#include <vector>

#include "core/data/formats/open.h"

namespace tributary {

// The files to open, and their format (never `automatic`).
struct DataFiles {
  DataFormat format = DataFormat::automatic;
  std::vector<std::string> paths;  // for IDX: images, then labels
};

// Fails with not_found (no path, no files of the format, or one of a pair or series missing),
// invalid_argument (a folder with files of two formats) or unsupported (a file name that does not
// determine the format).
Result<DataFiles> find_data_files(const DataRequest& request);

}  // namespace tributary
