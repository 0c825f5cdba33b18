// Tests of reading files and of replacing them atomically. Child processes are killed while they
// write; the file must be the old one or the new one, never a part.
#include "core/base/files/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace tributary {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, removed with its content.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "tributary-file-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const { return names_in(folder_); }

  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string text_of(const std::string& path) {
    const auto bytes = read_file(path, 1 << 30);
    return bytes.ok() ? std::string(bytes->begin(), bytes->end()) : bytes.status().text();
  }
  static mode_t mode_of(const std::string& path) {
    struct stat info = {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }

  fs::path folder_;
};

using Names = std::vector<std::string>;

Status write(const std::string& path, std::string_view text,
             const AtomicFileOptions& options = {}) {
  return write_file_atomically(path, bytes_of(text), options);
}

TEST_F(FileTest, ReadsWrittenBytes) {
  // Sizes next to the step by which the read buffer grows.
  for (std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 1'000'000u}) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    ASSERT_TRUE(write_file_atomically(path("x"), bytes).ok());
    EXPECT_EQ(*read_file(path("x"), size), bytes);
  }
  EXPECT_EQ(names(), Names{"x"});
}

TEST_F(FileTest, ReadsUpToTheCapAndNotBeyond) {
  ASSERT_TRUE(write(path("x"), "12345").ok());
  EXPECT_TRUE(read_file(path("x"), 5).ok());
  const Status status = read_file(path("x"), 4).status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_EQ(status.fault().expected, "at most 4 bytes");
  EXPECT_EQ(status.fault().got, "5");
}

// Pipes and devices report no size, so the limit must be checked while reading.
TEST_F(FileTest, ReadsPipesUpToTheCap) {
  const auto read_from_pipe = [](std::size_t size, std::uint64_t size_max) {
    std::array<int, 2> ends;
    EXPECT_EQ(::pipe(ends.data()), 0);
    const std::string content(size, 'p');
    EXPECT_EQ(::write(ends[1], content.data(), size), static_cast<ssize_t>(size));
    ::close(ends[1]);
    auto bytes = read_file("/proc/self/fd/" + std::to_string(ends[0]), size_max);
    ::close(ends[0]);
    return bytes;
  };
  EXPECT_EQ(read_from_pipe(10'000, 10'000)->size(), 10'000u);
  EXPECT_EQ(read_from_pipe(10'000, 9'999).status().code(), StatusCode::resource_exhausted);
  EXPECT_EQ(read_file("/dev/zero", 1'000'000).status().code(), StatusCode::resource_exhausted);
}

TEST_F(FileTest, ReadsFloats) {
  const std::array<float, 3> values = {1.5f, -2.0f, 1e-45f};
  ASSERT_TRUE(write_file_atomically(path("x.f32"), bytes_of(std::span<const float>(values))).ok());
  EXPECT_EQ(*read_f32_file(path("x.f32"), 12), FloatVector(values.begin(), values.end()));
  EXPECT_FALSE(read_f32_file(path("x.f32"), 11).ok());
  ASSERT_TRUE(write(path("x.f32"), "12345").ok());
  const Status status = read_f32_file(path("x.f32"), 100).status();
  EXPECT_EQ(status.code(), StatusCode::corrupt_data);
  EXPECT_EQ(status.fault().got, "5 bytes");
  ASSERT_TRUE(write(path("x.f32"), "").ok());
  EXPECT_EQ(read_f32_file(path("x.f32"), 100)->size(), 0u);
}

TEST_F(FileTest, ErrorsNameTheFileAndARemedy) {
  const Status missing = read_file(path("missing"), 10).status();
  EXPECT_EQ(missing.code(), StatusCode::not_found);
  EXPECT_EQ(missing.text(), "not_found: opening '" + path("missing") +
                                "': got No such file or directory; "
                                "check the path; folders on it must exist");
  const Status folder = read_file(folder_.string(), 1 << 20).status();
  EXPECT_EQ(folder.code(), StatusCode::io_error);
  EXPECT_EQ(folder.fault().remedy, "name a file, not a folder");
}

// Tests both methods of making the temporary file.
class AtomicFileTest : public FileTest, public testing::WithParamInterface<bool> {
 protected:
  AtomicFileOptions options() const { return {.unnamed = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Ways, AtomicFileTest, testing::Values(true, false),
                         [](const auto& test) { return test.param ? "unnamed" : "named"; });

TEST_P(AtomicFileTest, TargetChangesOnlyAtTheCommit) {
  ASSERT_TRUE(write(path("x"), "old").ok());
  auto file = AtomicFile::open(path("x"), options());
  ASSERT_TRUE(file.ok()) << file.status().text();
  ASSERT_TRUE(file->append(bytes_of("new ")).ok());
  ASSERT_TRUE(file->append(bytes_of("content")).ok());
  EXPECT_EQ(text_of(path("x")), "old");
  const Status status = file->commit();
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(text_of(path("x")), "new content");
  EXPECT_EQ(names(), Names{"x"});
}

TEST_P(AtomicFileTest, LeavesNothingWithoutCommit) {
  {
    auto file = AtomicFile::open(path("x"), options());
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->append(bytes_of("content")).ok());
    EXPECT_FALSE(fs::exists(path("x")));
  }
  EXPECT_EQ(names(), Names{});
}

TEST_P(AtomicFileTest, MovesWithItsTemporaryFile) {
  auto first = AtomicFile::open(path("a"), options());
  auto second = AtomicFile::open(path("b"), options());
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->append(bytes_of("for a")).ok());
  // The assignment must remove the temporary file of `second`.
  *second = std::move(*first);
  ASSERT_TRUE(second->commit().ok());
  EXPECT_FALSE(first->append(bytes_of("more")).ok());
  EXPECT_EQ(names(), Names{"a"});
  EXPECT_EQ(text_of(path("a")), "for a");
}

TEST_P(AtomicFileTest, IsCommittedOnce) {
  auto file = AtomicFile::open(path("x"), options());
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->commit().ok());
  EXPECT_FALSE(file->append(bytes_of("late")).ok());
  EXPECT_FALSE(file->commit().ok());
  EXPECT_EQ(text_of(path("x")), "");
}

// Includes a read-only file, whose replacement must be readable only as well.
TEST_P(AtomicFileTest, KeepsTheModeOfAnOldFile) {
  ASSERT_TRUE(write(path("x"), "old").ok());
  for (mode_t mode : {0600u, 0444u, 0666u, 0755u}) {
    ASSERT_EQ(::chmod(path("x").c_str(), mode), 0);
    ASSERT_TRUE(write(path("x"), "new", options()).ok());
    EXPECT_EQ(mode_of(path("x")), mode);
  }
}

TEST_P(AtomicFileTest, TakesTheUmaskFromTheModeOfANewFile) {
  AtomicFileOptions secret = options();
  secret.mode_if_new = 0600;
  // The umask removes group write and all rights of others.
  const mode_t before = ::umask(0027);
  EXPECT_TRUE(write(path("plain"), "x", options()).ok());
  EXPECT_TRUE(write(path("secret"), "x", secret).ok());
  ::umask(before);
  EXPECT_EQ(mode_of(path("plain")), 0640u);
  EXPECT_EQ(mode_of(path("secret")), 0600u);
}

TEST_P(AtomicFileTest, FollowsALinkAndKeepsIt) {
  fs::create_directory(path("real"));
  ASSERT_TRUE(write(path("real/x"), "old").ok());
  fs::create_symlink("real/x", path("link"));
  ASSERT_TRUE(write(path("link"), "new", options()).ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(text_of(path("real/x")), "new");
  EXPECT_EQ(names_in(path("real")), Names{"x"});

  // A link without a destination does not say where to create the file.
  fs::create_symlink("nowhere", path("dangling"));
  EXPECT_EQ(write(path("dangling"), "new", options()).code(), StatusCode::not_found);
}

TEST_P(AtomicFileTest, RefusesSpecialFiles) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  fs::create_symlink("/dev/null", path("null"));
  EXPECT_EQ(write(path("fifo"), "x", options()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(write(path("null"), "x", options()).code(), StatusCode::invalid_argument);
  EXPECT_EQ(write("/dev/null", "x", options()).code(), StatusCode::invalid_argument);
  EXPECT_TRUE(fs::is_fifo(path("fifo")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  for (const std::string& folder : {folder_.string(), path(""), path("."), path("..")}) {
    EXPECT_EQ(write(folder, "x", options()).fault().remedy, "name a file, not a folder") << folder;
  }
}

TEST_P(AtomicFileTest, SaysWhyAFolderCannotBeWritten) {
  ASSERT_TRUE(write(path("file"), "x").ok());
  const Status below_file = write(path("file/x"), "x", options());
  EXPECT_EQ(below_file.code(), StatusCode::io_error);
  EXPECT_NE(below_file.text().find("Not a directory"), std::string::npos);
  EXPECT_EQ(write(path("missing/x"), "x", options()).code(), StatusCode::not_found);
}

// A limit on file sizes stands for every write that ends in the middle.
TEST_P(AtomicFileTest, LeavesTheOldFileWhenAWriteFails) {
  ASSERT_TRUE(write(path("x"), "old").ok());
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  // Without this, the limit would end the process instead of failing the write.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const Bytes large(100'000, 1);
  Status appended, again, committed;
  {
    auto file = AtomicFile::open(path("x"), options());
    ASSERT_TRUE(file.ok());
    appended = file->append(large);
    again = file->append(bytes_of("x"));
    committed = file->commit();
  }
  std::signal(SIGXFSZ, handler);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);

  EXPECT_EQ(appended.code(), StatusCode::io_error);
  EXPECT_EQ(appended.fault().what, "writing '" + path("x") + "'");
  EXPECT_EQ(appended.fault().got, "File too large");
  EXPECT_FALSE(again.ok());
  EXPECT_FALSE(committed.ok());
  EXPECT_EQ(text_of(path("x")), "old");
  EXPECT_EQ(names(), Names{"x"});
}

// Runs `body` in a child process and returns its exit status.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_P(AtomicFileTest, NeedsTheRightToWriteIntoTheFolder) {
  fs::create_directory(path("closed"));
  fs::permissions(folder_, fs::perms::others_all, fs::perm_options::add);
  fs::permissions(path("closed"), fs::perms(0555));
  const int result = in_child([&] {
    constexpr uid_t kUnprivilegedUser = 65'534;  // root may write to any folder
    if (::geteuid() == 0 && ::setuid(kUnprivilegedUser) != 0) return 1;
    const Status status = write(path("closed/x"), "x", options());
    if (status.code() != StatusCode::io_error) return 2;
    return status.fault().remedy == "check the permissions of the file and of its folder" ? 0 : 3;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(names_in(path("closed")), Names{});
}

TEST_P(AtomicFileTest, LeavesTheOldFileWhenTheDiskIsFull) {
  constexpr int kCannotMount = 77;
  const int result = in_child([&] {
    // Only this child sees the mount, and the mount ends with it.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=65536") != 0) {
      return kCannotMount;
    }
    if (!write(path("x"), "old").ok()) return 1;
    const Status status = write_file_atomically(path("x"), Bytes(1 << 20, 1), options());
    if (status.fault().remedy != "free some space or choose another disk") return 2;
    if (text_of(path("x")) != "old") return 3;
    return names() == Names{"x"} ? 0 : 4;
  });
  if (result == kCannotMount) GTEST_SKIP() << "mounting a small tmpfs needs root";
  EXPECT_EQ(result, 0);
}

// Starts a child that runs `body` with the writing end of a pipe, and kills it after `bytes` bytes
// have arrived through that pipe.
void kill_after(std::size_t bytes, const std::function<void(int pipe_end)>& body) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body(ends[1]);
    ::_exit(1);
  }
  ::close(ends[1]);
  char byte;
  for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(ends[0]);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

TEST_F(FileTest, KilledBeforeCommitLeavesTheOldFileAlone) {
  ASSERT_TRUE(write(path("x"), "old").ok());
  kill_after(1, [&](int pipe_end) {
    auto file = AtomicFile::open(path("x"));
    if (!file.ok() || !file->append(Bytes(1 << 20, 1)).ok()) return;
    // The parent kills the child at this point, before commit().
    if (::write(pipe_end, "w", 1) == 1) ::pause();
  });
  EXPECT_EQ(text_of(path("x")), "old");
  EXPECT_EQ(names(), Names{"x"});
}

// The child replaces the file repeatedly and is killed after some replacements. The file must then
// have the complete content of one replacement.
TEST_P(AtomicFileTest, KilledAtAnyMomentLeavesAWholeFile) {
  constexpr std::size_t kSize = 200'000;
  const auto content = [](std::uint8_t which) { return Bytes(kSize, which); };
  ASSERT_TRUE(write_file_atomically(path("x"), content('a'), options()).ok());
  for (std::size_t kills = 1; kills <= 10; ++kills) {
    kill_after(kills, [&](int pipe_end) {
      for (std::uint8_t i = 0;; ++i) {
        if (::write(pipe_end, "w", 1) != 1) return;
        if (!write_file_atomically(path("x"), content('a' + i % 26), options()).ok()) return;
      }
    });
    const auto left = read_file(path("x"), kSize);
    ASSERT_TRUE(left.ok()) << left.status().text();
    ASSERT_EQ(left->size(), kSize);
    EXPECT_EQ(*left, content(left->front()));
  }
}

}  // namespace
}  // namespace tributary
