// A file system of 8 MiB that a test can fill.
#pragma once

#include <filesystem>
#include <string>

namespace tributary::end_to_end {

// Mounting needs a privilege; mounted() reports whether it succeeded.
class SmallDisk {
 public:
  SmallDisk();
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }
  std::string folder() const { return folder_.string(); }
  // fill() uses all remaining space; free_space() frees it again.
  void fill() const;
  void free_space() const;

 private:
  std::filesystem::path folder_;
  std::string why_not_;
};

// Runs the current test again as root of a new user namespace, which may mount, and adopts its
// result. The caller must return afterwards.
void run_again_in_a_namespace(const std::string& why);

}  // namespace tributary::end_to_end
