// A disk of a few megabytes that a test can fill.
#pragma once

#include <filesystem>
#include <string>

namespace tributary::end_to_end {

// A mount, which needs a privilege: mounted() says whether there was one.
class SmallDisk {
 public:
  SmallDisk();
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return why_not_.empty(); }
  const std::string& why_not() const { return why_not_; }
  std::string folder() const { return folder_.string(); }
  void fill() const;
  void make_room() const;

 private:
  std::filesystem::path folder_;
  std::string why_not_;
};

// Runs the test that is running once more, as the root of a user namespace of its own, which may
// mount. Whoever calls this does nothing else: the verdict comes with it.
void run_again_in_a_namespace(const std::string& why);

}  // namespace tributary::end_to_end
