// A disk of 8 MiB that a test can fill.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace tributary::end_to_end {

class SmallDisk {
 public:
  explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {}

  const std::string& folder() const { return folder_; }
  // fill() uses all remaining space; free_space() frees it again.
  void fill() const;
  void free_space() const;

 private:
  std::string folder_;
};

// Runs the body of a test in a child process that has such a disk, and adopts its failures. Skips
// the test if the system lets this user mount none. The caller must return afterwards.
void on_small_disk(const std::function<void(const SmallDisk&)>& body);

}  // namespace tributary::end_to_end
