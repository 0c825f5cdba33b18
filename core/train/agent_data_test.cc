// Tests of reading an agent's data as its job describes it.
#include "core/train/agent_data.h"

#include <gmock/gmock.h>

#include <string>

#include "core/data/formats/loaders_testing.h"

namespace tributary {
namespace {

using data_testing::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kFlowers = "kind;length;width\n2;6.0;3.0\n0;5.0;3.5\n1;7.0;2.5\n";

TrainingJob flowers_job() {
  TrainingJob job;
  job.input = {.task = DataTask::classification, .dims = {2}, .classes = 3};
  job.layout = {.label = "kind", .separator = ';', .scales = {{5, 2}, {3, 0.5}}};
  return job;
}

TEST(AgentData, AJobOfClassesReadsLabelsFromTheColumnThatItNames) {
  const Folder folder;
  folder.write("train.csv", kFlowers);
  const auto data = open_training_data({.path = folder.path()}, flowers_job());
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_EQ(data->train->shape(), flowers_job().input);
  EXPECT_THAT(data->train->labels(), ElementsAre(2, 0, 1));
  Batch batch;
  const std::uint32_t first[] = {0};
  ASSERT_TRUE(data->train->gather(first, batch).ok());
  EXPECT_THAT(batch.features, ElementsAre(0.5f, 0.0f));
}

TEST(AgentData, AJobOfTargetsReadsThemFromTheSameFile) {
  const Folder folder;
  folder.write("train.csv", kFlowers);
  TrainingJob job = flowers_job();
  job.input = {.task = DataTask::regression, .dims = {2}, .outputs = 1};
  job.layout.label = "width";
  const auto data = open_training_data({.path = folder.path()}, job);
  ASSERT_TRUE(data.ok()) << data.status().text();
  EXPECT_EQ(data->train->shape(), job.input);
}

TEST(AgentData, ALabelBeyondTheJobsClassesIsAnErrorWithItsPlace) {
  const Folder folder;
  folder.write("train.csv", kFlowers);
  TrainingJob job = flowers_job();
  job.input.classes = 2;
  EXPECT_THAT(open_training_data({.path = folder.path()}, job).status().text(),
              HasSubstr("line 2, column 1"));
}

TEST(AgentData, AWindowOfTextHasTheLengthOfTheInput) {
  const Folder folder;
  folder.write("train.txt", "the quick brown fox jumps");
  TrainingJob job;
  job.input = {.task = DataTask::next_token, .dims = {8}, .classes = 97};
  const auto printable = open_training_data({.path = folder.path()}, job);
  ASSERT_TRUE(printable.ok()) << printable.status().text();
  EXPECT_EQ(printable->train->shape(), job.input);
  EXPECT_EQ(printable->train->count(), 3u);
  job.input.classes = 256;
  const auto bytes = open_training_data({.path = folder.path()}, job);
  ASSERT_TRUE(bytes.ok()) << bytes.status().text();
  EXPECT_EQ(bytes->train->shape(), job.input);
}

TEST(AgentData, TheSettingsAreCheckedWithoutOpeningAFile) {
  const Folder folder;
  EXPECT_TRUE(check_data_source({.path = folder.path()}, "data").ok()) << "still empty";
  EXPECT_EQ(check_data_source({}, "data").code(), StatusCode::invalid_argument);
  EXPECT_EQ(check_data_source({.path = folder.path("other")}, "data").code(),
            StatusCode::not_found);
  const Status format = check_data_source({.path = folder.path(), .format = "cvs"}, "evaluation");
  EXPECT_EQ(format.code(), StatusCode::invalid_argument);
  EXPECT_THAT(format.text(), HasSubstr("setting evaluation.format"));
  EXPECT_THAT(format.text(), HasSubstr("csv"));
}

}  // namespace
}  // namespace tributary
