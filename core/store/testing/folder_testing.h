// A temporary folder that is deleted with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tributary::store_testing {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tributary-store-XXXXXX").string();
    path_ = ::mkdtemp(name.data()) ? name : "";
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tributary::store_testing
