// The control page without a coordinator, which is the case for most runs. The tests with a
// coordinator are in tests/dashboard.
#include "dashboard/pages/control/control_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <fstream>

#include "dashboard/pages/common/pages_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::kJob;
using testing::HasSubstr;

class ControlPageTest : public PageTest<ControlPage> {
 protected:
  void open_run(const std::string& name) {
    writer(name).job();
    writer(name).round(1);
    writer(name).agents(true);
    open(name);
    QObject::connect(runs_.back().get(), &RunSession::changed, &page_, &Page::refresh);
  }
  bool settled() {
    return happens([this] { return page_.settled() && runs_.back()->caught_up(); });
  }
};

// Ctrl+Shift+O is the connection to a coordinator, without which nothing can be controlled.
TEST_F(ControlPageTest, WithoutARunItExplainsHowToOpenOne) {
  show();
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("Ctrl+Shift+O"));
  EXPECT_TRUE(page_.settled());
  EXPECT_FALSE(page_.jobs().pause().isEnabled());
  EXPECT_FALSE(page_.run_box().isVisible());
}

// A journal of a finished run has no coordinator; no button may pretend otherwise.
TEST_F(ControlPageTest, WithoutACoordinatorItReportsThatAndDoesNothing) {
  open_run("run.db");
  show();
  ASSERT_TRUE(settled());
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("No coordinator answers for run.db"));
  ASSERT_TRUE(happens([&] { return page_.jobs().model().rowCount() == 1; }));
  for (QPushButton* button : {&page_.jobs().pause(), &page_.jobs().resume(), &page_.jobs().stop(),
                              &page_.submit_form().submit(), &page_.access_form().allow(),
                              &page_.access_form().revoke()}) {
    EXPECT_FALSE(button->isEnabled()) << button->text().toStdString();
  }
  EXPECT_EQ(page_.answers(), "");
}

// A job that another operator submitted must not move the selection: the next click could stop the
// wrong job.
TEST_F(ControlPageTest, JobsStandInTheTable) {
  open_run("run.db");
  const QAbstractItemModelTester tester(&page_.jobs().model());
  show();
  ControlJobsModel& model = page_.jobs().model();
  ASSERT_TRUE(happens([&] { return model.rowCount() == 1; }));
  EXPECT_EQ(model.text(0, model.column_of("job")), "digits");
  EXPECT_EQ(model.text(0, model.column_of("state")), "running");
  ASSERT_TRUE(happens([&] { return model.text(0, model.column_of("rounds")) == "1 of 20"; }));
  EXPECT_EQ(page_.jobs().table().current_row(), 0) << "the newest is chosen";
  writer("run.db").job(kJob + 1, "another");
  ASSERT_TRUE(happens([&] { return model.rowCount() == 2; }));
  EXPECT_EQ(page_.jobs().table().current_row(), 0) << "what was chosen stays";
  close("run.db");
  EXPECT_EQ(model.rowCount(), 0);
}

// The name of the run is part of the text, because commands act on this run only.
TEST_F(ControlPageTest, OneOfSeveralRunsIsChosen) {
  open_run("first.db");
  open_run("second.db");
  show();
  ASSERT_TRUE(settled());
  EXPECT_TRUE(page_.run_box().isVisible());
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("first.db"));
  page_.run_box().setCurrentIndex(1);
  ASSERT_TRUE(happens([&] { return page_.presence().contains("No coordinator answers"); }));
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("second.db"));
  close("first.db");
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("second.db")) << "it stays chosen";
  close("second.db");
  EXPECT_THAT(page_.presence().toStdString(), HasSubstr("No run is open"));
}

// The same checks as the coordinator's, with the line of the mistake.
TEST_F(ControlPageTest, AFileOfAJobIsCheckedWithoutACoordinatorToo) {
  SubmitForm& form = page_.submit_form();
  const auto verdict_on = [&](const std::string& toml) {
    std::ofstream(folder_ / "job.toml") << toml;
    form.file().setText(QString::fromStdString(folder_ / "job.toml"));
    QTest::keyClick(&form.file(), Qt::Key_Return);
    return form.verdict().toStdString();
  };
  EXPECT_THAT(verdict_on("name = \"a\"\nrounds = 0\n"), HasSubstr("job.toml:2"));
  EXPECT_THAT(verdict_on("name = \"a\"\nruonds = 1\n"), HasSubstr("did you mean"));
  EXPECT_THAT(verdict_on("name = \"a\"\nrounds = 1\ncodec = \"thx\"\nparameters = 9\n"),
              HasSubstr("thx"));
  EXPECT_THAT(verdict_on("name = \"a\"\nrounds = 1\n"), HasSubstr("none of them"));
  EXPECT_THAT(verdict_on("name = \"a\"\nrounds = 4\nparameters = 9\n"),
              HasSubstr("✓ job a: 4 rounds"));
  EXPECT_FALSE(form.submit().isEnabled()) << "nobody is there to take it";
  form.file().setText(QString::fromStdString(folder_ / "none.toml"));
  QTest::keyClick(&form.file(), Qt::Key_Return);
  EXPECT_THAT(form.verdict().toStdString(), HasSubstr("not_found"));
}

// A relative path means a file beside the job file, which another machine does not have.
TEST(ReadJobFile, AModelsFileMustBeWhereTheCoordinatorLooks) {
  const store_testing::Folder folder;
  const std::string path = folder / "job.toml";
  const auto write = [&](const std::string& model_file) {
    std::ofstream(path) << "name = \"a\"\nrounds = 4\ninput = \"1x28x28\"\nclasses = 10\n"
                        << "model_file = \"" << model_file << "\"\n";
  };
  write("net.pt");
  EXPECT_TRUE(read_job_file(path, false).ok());
  EXPECT_EQ(read_job_file(path, true).status().code(), StatusCode::invalid_argument);
  write("/models/net.pt");
  const Result<JobFile> file = read_job_file(path, true);
  ASSERT_TRUE(file.ok()) << file.status().text();
  EXPECT_EQ(file->folder, "");
  EXPECT_EQ(file->name, "a");
}

// The list of agents is filled in while the user types.
TEST(AccessFormTest, TypedTextStaysWhenAgentsConnect) {
  AccessForm form;
  form.agent().setEditText("gar");
  form.set_agents({"cellar", "garage-01"});
  EXPECT_EQ(form.agent().currentText(), "gar");
  EXPECT_EQ(form.agent().count(), 2);
}

// Escape withdraws the question, so a later click on the hidden button does nothing.
TEST(ConfirmBarTest, DoesNothingUnlessItIsConfirmed) {
  ConfirmBar bar;
  int confirmed = 0;
  QObject::connect(&bar, &ConfirmBar::confirmed, [&](const ControlRequest&) { ++confirmed; });
  bar.ask({.what = "stop", .question = {}, .warning = "Really?", .verb = "Stop"});
  EXPECT_TRUE(bar.isVisible());
  QTest::keyClick(&bar, Qt::Key_Escape);
  EXPECT_FALSE(bar.isVisible());
  bar.yes().click();
  EXPECT_EQ(confirmed, 0);
  bar.ask({.what = "stop", .question = {}, .warning = "Really?", .verb = "Stop"});
  bar.yes().click();
  EXPECT_EQ(confirmed, 1);
  EXPECT_FALSE(bar.has_question());
}

}  // namespace
}  // namespace tributary::dashboard
