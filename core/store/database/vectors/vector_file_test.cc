// The bytes of a file that are in use, and values whose bytes are used again only after a commit.
#include "core/store/database/vectors/vector_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

constexpr std::uint64_t kUnit = FileExtents::kAlignment;

TEST(FileExtentsTest, TakeTheFirstGapThatIsLongEnough) {
  auto extents = FileExtents::around({{5 * kUnit, 10}, {0, kUnit}, {2 * kUnit, kUnit + 1}});
  ASSERT_TRUE(extents);
  EXPECT_EQ(extents->end(), 6 * kUnit);
  EXPECT_EQ(extents->free_bytes(), 2 * kUnit);
  EXPECT_EQ(extents->take(2 * kUnit).begins_at, 6 * kUnit) << "all gaps are shorter";
  EXPECT_EQ(extents->take(1).begins_at, kUnit);
  EXPECT_EQ(extents->take(kUnit).begins_at, 4 * kUnit);
  EXPECT_EQ(extents->free_bytes(), 0u);
}

TEST(FileExtentsTest, JoinGapsAndShrink) {
  FileExtents extents;
  const FileExtent a = extents.take(100);
  const FileExtent b = extents.take(3 * kUnit);
  const FileExtent c = extents.take(kUnit);
  const FileExtent d = extents.take(kUnit);
  extents.give_back(c);
  extents.give_back(a);
  EXPECT_EQ(extents.free_bytes(), 2 * kUnit);
  extents.give_back(b);
  EXPECT_EQ(extents.free_bytes(), 5 * kUnit);
  EXPECT_EQ(extents.take(5 * kUnit).begins_at, 0u) << "one gap";
  extents.give_back(d);
  EXPECT_EQ(extents.end(), 5 * kUnit);
  extents.give_back({0, 5 * kUnit});
  EXPECT_EQ(extents.end(), 0u);
}

TEST(FileExtentsTest, RefuseWhatCannotBe) {
  EXPECT_FALSE(FileExtents::around({{0, kUnit + 1}, {kUnit, 1}})) << "overlap";
  EXPECT_FALSE(FileExtents::around({{1, 10}})) << "not aligned";
  EXPECT_FALSE(FileExtents::around({{kUnit, UINT64_MAX - kUnit}})) << "longer than a file";
  EXPECT_FALSE(FileExtents::around({{UINT64_MAX / kUnit * kUnit, 1}}));
}

class VectorFileTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = VectorFile::open(folder_ / "file", "");
    ASSERT_TRUE(opened.ok()) << opened.status().text();
    file_ = std::move(*opened);
  }
  static Bytes value_of(std::uint8_t content) { return Bytes(300'001, content); }
  FileExtent add(std::uint8_t content) {
    const auto added = file_->add(value_of(content));
    EXPECT_TRUE(added.ok()) << added.status().text();
    return added.ok() ? *added : FileExtent{};
  }
  std::uint8_t content_of(const FileExtent& extent) {
    Bytes bytes(extent.bytes);
    EXPECT_EQ(file_->read(extent.begins_at, bytes).text(), "ok");
    EXPECT_EQ(bytes, value_of(bytes.front()));
    return bytes.front();
  }

  store_testing::Folder folder_;
  std::unique_ptr<VectorFile> file_;
};

TEST_F(VectorFileTest, KeepsAValueUntilItsRemovalIsCommitted) {
  const FileExtent first = add(1);
  file_->committed();
  file_->remove(first);
  const FileExtent second = add(2);
  EXPECT_EQ(content_of(first), 1);
  EXPECT_EQ(content_of(second), 2);
  file_->committed();
  EXPECT_EQ(add(3).begins_at, first.begins_at);
  EXPECT_EQ(content_of(second), 2);
}

TEST_F(VectorFileTest, ForgetsATransactionThatIsRolledBack) {
  const FileExtent first = add(1);
  file_->committed();
  file_->remove(first);
  const FileExtent second = add(2);
  file_->rolled_back({});
  EXPECT_EQ(add(3).begins_at, second.begins_at);
  EXPECT_EQ(content_of(first), 1);
}

// A crash may make the transaction visible.
TEST_F(VectorFileTest, KeepsTheValuesOfACommitThatFailedUntilTheNext) {
  const FileExtent first = add(1);
  file_->rolled_back(Status(StatusCode::io_error, {}));
  const FileExtent second = add(2);
  EXPECT_EQ(content_of(first), 1);
  EXPECT_EQ(content_of(second), 2);
  file_->committed();
  EXPECT_EQ(add(3).begins_at, first.begins_at);
}

TEST_F(VectorFileTest, CanBeReadByItsOwnerOnly) {
  struct stat about = {};
  ASSERT_EQ(::stat(file_->path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u, 0600u);
}

TEST_F(VectorFileTest, AValueBehindItsEndIsDamaged) {
  const FileExtent extent = add(1);
  EXPECT_EQ(file_->sync().text(), "ok");
  std::filesystem::resize_file(file_->path(), 200'000);
  Bytes bytes(extent.bytes);
  const Status status = file_->read(extent.begins_at, bytes);
  EXPECT_EQ(status.code(), StatusCode::corrupt_data) << status.text();
}

TEST_F(VectorFileTest, IsNamedIfItCannotBeOpened) {
  const auto opened = VectorFile::open(folder_ / "no/file", "");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), StatusCode::io_error);
  EXPECT_NE(opened.status().text().find("no/file"), std::string::npos) << opened.status().text();
}

}  // namespace
}  // namespace tributary
