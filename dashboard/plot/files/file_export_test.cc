// Tests of writing files completely or not at all.
#include "dashboard/plot/files/file_export.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

namespace tributary::dashboard {
namespace {

QByteArray content_of(const QString& name) {
  QFile file(name);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

TEST(WriteFile, LeavesTheFileAsItWasIfNotAllIsWritten) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.txt");
  EXPECT_TRUE(write_file(file, [](QIODevice& out) { return out.write("before") == 6; }).ok());
  const Status failed = write_file(file, [](QIODevice& out) {
    out.write("after");
    return false;
  });
  EXPECT_EQ(failed.code(), StatusCode::io_error);
  EXPECT_EQ(content_of(file), "before");
  EXPECT_EQ(QDir(folder.path()).entryList(QDir::Files).size(), 1);
}

TEST(WriteFile, SaysWhichFileCannotBeWritten) {
  const Status failed = write_file("/no such folder/a.txt", [](QIODevice&) { return true; });
  EXPECT_EQ(failed.code(), StatusCode::io_error);
  EXPECT_EQ(failed.fault().what, "/no such folder/a.txt");
  EXPECT_FALSE(failed.fault().got.empty());
}

TEST(CsvField, IsQuotedWhereItHasTo) {
  EXPECT_EQ(csv_field("plain; text"), "plain; text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a,b", '\t'), "a,b");
  EXPECT_EQ(csv_field("a\tb", '\t'), "\"a\tb\"");
  EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("a\rb"), "\"a\rb\"");
  EXPECT_EQ(csv_field("α"), "α");
}

}  // namespace
}  // namespace tributary::dashboard
