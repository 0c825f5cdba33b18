// Tests of reading a file at any place, also if it becomes shorter meanwhile.
#include "core/base/files/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tributary {
namespace {

using testing::HasSubstr;

class InputFileTest : public testing::Test {
 protected:
  InputFileTest() {
    std::string folder = testing::TempDir() + "input_file_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~InputFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& content) const {
    std::ofstream(path("file"), std::ios::binary) << content;
    return path("file");
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(InputFileTest, ReadsAtAnyPlace) {
  const Result<InputFile> opened = InputFile::open(file("0123456789"));
  ASSERT_TRUE(opened.ok()) << opened.status().text();
  EXPECT_EQ(opened.value().size(), 10u);
  Bytes bytes(4);
  ASSERT_TRUE(opened.value().read(6, bytes).ok());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "6789");
  ASSERT_TRUE(opened.value().read(1, bytes).ok());
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "1234");
}

TEST_F(InputFileTest, NamesAMissingFile) {
  const Status status = InputFile::open(path("nothing")).status();
  EXPECT_EQ(status.code(), StatusCode::not_found);
  EXPECT_THAT(status.text(), HasSubstr(path("nothing")));
}

TEST_F(InputFileTest, RefusesFilesWithoutASize) {
  const Status folder = InputFile::open(path("")).status();
  EXPECT_EQ(folder.fault().got, "a folder");
  // No process writes to this pipe, so a blocking open would hang.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const Status pipe = InputFile::open(path("pipe")).status();
  EXPECT_EQ(pipe.code(), StatusCode::io_error);
  EXPECT_THAT(pipe.fault().got, HasSubstr("a pipe"));
}

TEST_F(InputFileTest, NoticesAFileThatBecomesShorter) {
  const Result<InputFile> opened = InputFile::open(file("0123456789"));
  ASSERT_TRUE(opened.ok());
  std::filesystem::resize_file(path("file"), 5);
  Bytes bytes(10);
  const Status status = opened.value().read(0, bytes);
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.text(), HasSubstr("the end after 5"));
}

}  // namespace
}  // namespace tributary
