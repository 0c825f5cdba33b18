// Tests of finding and opening a data set in a folder, by the names of its files.
#include "core/data/formats/open.h"

#include <gmock/gmock.h>

#include "core/data/formats/cifar.h"
#include "core/data/formats/loaders_testing.h"

namespace tributary {
namespace {

using data_testing::counting;
using data_testing::Folder;
using data_testing::gzip;
using data_testing::idx_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A part with two pictures of one by two pixels, the first of them with the value `first`.
void write_idx(const Folder& folder, const std::string& part, std::uint8_t first) {
  folder.write(part + "-images-idx3-ubyte", idx_file({2, 1, 2}, counting(4, first)));
  folder.write(part + "-labels-idx1-ubyte", idx_file({2}, counting(2)));
}

float first_value(const DataSet& data) {
  Batch batch;
  const std::uint32_t indices[] = {0};
  EXPECT_TRUE(data.gather(indices, batch).ok());
  return batch.features.at(0);
}

// Pixels of 255 and 51 become 1.0 and 0.2.
TEST(OpenData, FindsTheTwoPartsOfAFolder) {
  const Folder folder;
  write_idx(folder, "train", 255);
  write_idx(folder, "t10k", 51);
  const auto train = open_data({.path = folder.path()});
  ASSERT_TRUE(train.ok()) << train.status().text();
  EXPECT_EQ(train->format, DataFormat::idx);
  EXPECT_EQ(first_value(*train->data), 1.0f);
  const auto test = open_data({.path = folder.path(), .part = DataPart::test});
  ASSERT_TRUE(test.ok()) << test.status().text();
  EXPECT_EQ(first_value(*test->data), 0.2f);
  EXPECT_THAT(test->files, ElementsAre(folder.path("t10k-images-idx3-ubyte"),
                                       folder.path("t10k-labels-idx1-ubyte")));
}

// (1 - 0.5) / 2. IDX pictures have one channel, so two scales are a mistake.
TEST(OpenData, PicturesHaveOneScale) {
  const Folder folder;
  write_idx(folder, "train", 255);
  const auto scaled = open_data({.path = folder.path(), .scales = {{.mean = 0.5, .deviation = 2}}});
  ASSERT_TRUE(scaled.ok()) << scaled.status().text();
  EXPECT_EQ(first_value(*scaled->data), 0.25f);
  EXPECT_EQ(open_data({.path = folder.path(), .scales = {{}, {}}}).status().code(),
            StatusCode::mismatch);
}

// By the folder and by the file of pictures.
TEST(OpenData, TakesCompressedFilesAndPlainLabelsBeside) {
  const Folder folder;
  folder.write("train-images-idx3-ubyte.gz", gzip(idx_file({2, 1, 2}, counting(4, 255))));
  folder.write("train-labels-idx1-ubyte", idx_file({2}, counting(2)));
  for (const std::string& path : {folder.path(), folder.path("train-images-idx3-ubyte.gz")}) {
    const auto train = open_data({.path = path});
    ASSERT_TRUE(train.ok()) << train.status().text();
    EXPECT_EQ(first_value(*train->data), 1.0f);
  }
}

// A record has a label and 3,072 pixels. A gap in the numbers means a file that was not copied.
TEST(OpenData, JoinsTheBatchesOfCifarAndMissesNone) {
  const Folder folder;
  for (const char* name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin"}) {
    folder.write(name, Bytes(3073, static_cast<std::uint8_t>(name[11] - '0')));
  }
  const auto train = open_data({.path = folder.path()});
  ASSERT_TRUE(train.ok()) << train.status().text();
  EXPECT_EQ(train->format, DataFormat::cifar10);
  EXPECT_THAT(train->data->labels(), ElementsAre(1, 2, 3));
  std::filesystem::remove(folder.path("data_batch_2.bin"));
  EXPECT_THAT(
      open_data({.path = folder.path()}).status().text(),
      AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("1 to 3"), HasSubstr("copy it again")));
}

// Its records have two labels; the format chooses which one counts.
TEST(OpenData, KnowsCifar100ByItsNames) {
  const Folder folder;
  folder.write("train.bin", Bytes(3074, 7));
  folder.write("test.bin", Bytes(3074, 8));
  const auto fine = open_data({.path = folder.path(), .part = DataPart::test});
  ASSERT_TRUE(fine.ok()) << fine.status().text();
  EXPECT_EQ(fine->data->shape().classes, 100u);
  EXPECT_THAT(fine->data->labels(), ElementsAre(8));
  const auto coarse = open_data({.path = folder.path(), .format = DataFormat::cifar100_coarse});
  ASSERT_TRUE(coarse.ok()) << coarse.status().text();
  EXPECT_EQ(coarse->data->shape().classes, 20u);
}

// A last column of numbers is a target, so the task is a regression.
TEST(OpenData, TablesAndTexts) {
  const Folder folder;
  const std::string table = folder.write("some.csv", "a,b\n1,2\n");
  const auto csv = open_data({.path = table});
  ASSERT_TRUE(csv.ok()) << csv.status().text();
  EXPECT_THAT(csv->columns, ElementsAre("a"));
  EXPECT_EQ(csv->data->shape().task, DataTask::regression);
  folder.write("train.txt", "one two three");
  const auto text = open_data({.path = folder.path(), .text = {.tokens = 4}});
  ASSERT_TRUE(text.ok()) << text.status().text();
  EXPECT_EQ(text->data->count(), 3u);
}

// The errors name the files that would be accepted and the command that generates a data set.
TEST(OpenData, NamesMissingFiles) {
  const Folder folder;
  EXPECT_THAT(open_data({.path = folder.path("nowhere")}).status().text(),
              AllOf(HasSubstr("not_found"), HasSubstr("nowhere"), HasSubstr("check the path")));
  EXPECT_THAT(open_data({.path = folder.path(), .part = DataPart::test}).status().text(),
              AllOf(HasSubstr("t10k-images-idx3-ubyte"), HasSubstr("test_batch.bin"),
                    HasSubstr("tributary data make")));
  folder.write("train-images-idx3-ubyte", idx_file({2, 1, 2}, counting(4)));
  EXPECT_THAT(open_data({.path = folder.path()}).status().text(),
              AllOf(HasSubstr("train-labels-idx1-ubyte"), HasSubstr("come in pairs")));
}

// A data set has several files, and the line and column of a table.
TEST(OpenData, SaysWhichFileIsWrong) {
  const Folder folder;
  write_idx(folder, "train", 0);
  folder.write("train-labels-idx1-ubyte", counting(5));
  EXPECT_THAT(open_data({.path = folder.path()}).status().text(),
              AllOf(HasSubstr("train-images-idx3-ubyte: labels: IDX"),
                    HasSubstr("check that the file is an IDX file")));
  const std::string table = folder.write("some.csv", "a,b\n1,zero\n");
  EXPECT_THAT(open_data({.path = table}).status().text(),
              HasSubstr("some.csv: line 2, column 2: expected a finite number"));
  const std::string cut = folder.write("data_batch_1.bin", counting(100));
  EXPECT_THAT(open_data({.path = cut}).status().text(), HasSubstr("data_batch_1.bin: CIFAR"));
}

// A folder with files of two formats is refused until the format is stated.
TEST(OpenData, AsksWhereTheFormatIsUnclear) {
  const Folder folder;
  folder.write("train.txt", "some text");
  folder.write("train.csv", "1,2\n");
  EXPECT_THAT(open_data({.path = folder.path()}).status().text(),
              AllOf(HasSubstr("csv and text"), HasSubstr("state the format")));
  EXPECT_TRUE(open_data({.path = folder.path(), .format = DataFormat::csv}).ok());
  const std::string path = folder.write("numbers", "1,2\n");
  EXPECT_THAT(open_data({.path = path}).status().text(), HasSubstr("state the format"));
}

// Tables and compressed files are held in memory; plain IDX files are read on demand.
TEST(OpenData, KeepsItsMemoryLimit) {
  const Folder folder;
  const std::string table = folder.write("some.csv", "1,2\n3,4\n");
  EXPECT_EQ(open_data({.path = table, .limits = {.memory_bytes_max = 7}}).status().code(),
            StatusCode::resource_exhausted);
  folder.write("train-images-idx3-ubyte.gz", gzip(idx_file({2, 50, 50}, counting(5000))));
  folder.write("train-labels-idx1-ubyte", idx_file({2}, counting(2)));
  const Status status = open_data({.path = folder.path("train-images-idx3-ubyte.gz"),
                                   .limits = {.memory_bytes_max = 4000}})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted);
  EXPECT_THAT(status.text(), AllOf(HasSubstr("train-images"), HasSubstr("gunzip")));
}

// Files stay open and are read on demand, so a file may shrink later.
TEST(OpenData, NoticesAFileThatShrinksWhileItIsRead) {
  const Folder folder;
  write_idx(folder, "train", 0);
  const auto train = open_data({.path = folder.path()});
  ASSERT_TRUE(train.ok());
  std::filesystem::resize_file(folder.path("train-images-idx3-ubyte"), 17);
  Batch batch;
  const std::uint32_t indices[] = {1};
  const Status status = train->data->gather(indices, batch);
  EXPECT_EQ(status.code(), StatusCode::io_error);
  EXPECT_THAT(status.text(), HasSubstr("do not change the file"));
}

}  // namespace
}  // namespace tributary
