#include "tests/end_to_end/federation/small_disk.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mount.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "tests/end_to_end/federation/process.h"

namespace tributary::end_to_end {
namespace {

// Set in the inner run, to detect that the namespace did not help.
constexpr const char* kInside = "TRIBUTARY_TEST_IN_NAMESPACE";
constexpr const char* kUnshare = "/usr/bin/unshare";

}  // namespace

SmallDisk::SmallDisk() {
  std::string name = (std::filesystem::temp_directory_path() / "tributary-disk-XXXXXX").string();
  folder_ = ::mkdtemp(name.data()) ? name : "";
  if (::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=8m") != 0) {
    why_not_ = "mount: " + std::generic_category().message(errno);
  }
}

SmallDisk::~SmallDisk() {
  if (mounted()) ::umount2(folder_.c_str(), MNT_DETACH);
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);
}

void SmallDisk::fill() const {
  std::ofstream filler(folder_ / "filler", std::ios::binary);
  const std::string block(4096, 'x');
  while (filler.write(block.data(), 4096).flush()) {
  }
}

void SmallDisk::free_space() const { std::filesystem::remove(folder_ / "filler"); }

void run_again_in_a_namespace(const std::string& why) {
  const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string log = ::testing::TempDir() + "tributary-" + test->name() + ".log";
  std::filesystem::remove(log);
  if (::getenv(kInside) != nullptr) GTEST_SKIP() << "even in a namespace of its own: " << why;
  if (!std::filesystem::exists(kUnshare)) GTEST_SKIP() << why << ", and there is no unshare";
  if (Process({kUnshare, "-rm", "/bin/true"}, log).wait() != 0) {
    GTEST_SKIP() << why << ", and user namespaces are not allowed here";
  }
  ::setenv(kInside, "1", 1);
  Process again({kUnshare, "-rm", std::filesystem::read_symlink("/proc/self/exe"),
                 std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name(),
                 "--gtest_brief=1"},
                log);
  const int code = again.wait(2 * kPatience);
  ::unsetenv(kInside);
  std::string output;
  for (const std::string& line : again.lines()) output += line + "\n";
  std::filesystem::remove(log);
  EXPECT_EQ(code, 0) << output;
  if (output.find("SKIPPED") != output.npos) GTEST_SKIP() << output;
}

}  // namespace tributary::end_to_end
