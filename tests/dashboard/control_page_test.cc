// The control page with a coordinator on this machine, reached through its run file.
#include <QAbstractItemModelTester>
#include <QPlainTextEdit>

#include "tests/dashboard/control_federation.h"

namespace tributary::dashboard {
namespace {

using testing::HasSubstr;

class ControlPageOverAFile : public ControlFederation {
 protected:
  void open_file() { open(origin_of_file(federation_.coordinator_journal())); }
};

// Stopping asks first, because a stopped job does not continue. The reason is stored with the job.
TEST_F(ControlPageOverAFile, PausesResumesAndStopsAJob) {
  federation_.start_all();
  open_file();
  const QAbstractItemModelTester tester(&page_->jobs().model());
  ASSERT_TRUE(ready()) << page_->presence().toStdString();
  ASSERT_TRUE(is("test", wire::JobState::running));
  EXPECT_FALSE(page_->jobs().resume().isEnabled());

  page_->jobs().reason().setText("the office is open");
  press(page_->jobs().pause());
  ASSERT_TRUE(is("test", wire::JobState::paused)) << page_->answers().toStdString();
  EXPECT_TRUE(answers_contain("pause test: done"));
  EXPECT_EQ(run_->job_info()->reason, "the office is open");
  ASSERT_TRUE(happens([&] { return page_->jobs().resume().isEnabled(); }));
  EXPECT_FALSE(page_->jobs().pause().isEnabled());

  press(page_->jobs().resume());
  ASSERT_TRUE(is("test", wire::JobState::running));
  ASSERT_TRUE(answers_contain("resume test: done"));

  press(page_->jobs().stop());
  ASSERT_TRUE(page_->confirm_bar().has_question());
  QTest::keyClick(&page_->confirm_bar().no(), Qt::Key_Escape);
  EXPECT_FALSE(page_->confirm_bar().has_question());
  EXPECT_EQ(page_->post().waiting(), 0u) << "nothing was asked";

  press(page_->jobs().stop());
  press(page_->confirm_bar().yes());
  ASSERT_TRUE(is("test", wire::JobState::stopped));
  EXPECT_TRUE(answers_contain("stop test: done"));
  ASSERT_TRUE(happens([&] { return !page_->jobs().stop().isEnabled(); }));
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);
}

// A misspelt key is found before anything is sent; the same name twice is refused by the
// coordinator.
TEST_F(ControlPageOverAFile, SubmitsAJobThatMakesSense) {
  federation_.start_coordinator();
  open_file();
  ASSERT_TRUE(ready());
  // An agent that has never connected can be revoked, too.
  EXPECT_TRUE(happens([&] { return page_->access_form().agent().findText("agent-1") >= 0; }));
  SubmitForm& form = page_->submit_form();
  choose_file(write("wrong.toml", "name = \"second\"\nrounds = 3\nlerning_rate = 1\n"));
  EXPECT_THAT(form.verdict().toStdString(), HasSubstr("wrong.toml:3"));
  EXPECT_THAT(form.verdict().toStdString(), HasSubstr("learning_rate"));
  EXPECT_FALSE(form.submit().isEnabled());

  choose_file(write("good.toml", "name = \"second\"\nrounds = 3\nparameters = 100\n"));
  EXPECT_THAT(form.verdict().toStdString(), HasSubstr("job second: 3 rounds"));
  press(form.submit());
  ASSERT_TRUE(answers_contain("submit second: done (job "));
  ASSERT_TRUE(is("second", wire::JobState::running));

  press(form.submit());
  EXPECT_TRUE(answers_contain("submit second: already_exists")) << page_->answers().toStdString();
}

// The file is read again when it is submitted, so a change after the check cannot slip through.
TEST_F(ControlPageOverAFile, NothingIsSentBeforeItIsSubmitted) {
  federation_.start_coordinator();
  open_file();
  ASSERT_TRUE(ready());
  const std::string file = write("job.toml", "name = \"second\"\nrounds = 3\nparameters = 100\n");
  choose_file(file);
  ASSERT_TRUE(page_->submit_form().submit().isEnabled());
  std::ofstream(file) << "rounds = ";  // changes the file after the check
  press(page_->submit_form().submit());
  EXPECT_EQ(page_->post().waiting(), 0u);
  EXPECT_FALSE(page_->submit_form().submit().isEnabled());
}

// The coordinator is killed and started again over the same journal.
TEST_F(ControlPageOverAFile, ReportsAMissingCoordinatorAndReconnects) {
  federation_.start_all();
  open_file();
  ASSERT_TRUE(ready());
  ASSERT_TRUE(reaches(3));
  federation_.coordinator().kill();
  ASSERT_TRUE(not_ready());
  EXPECT_THAT(page_->presence().toStdString(), HasSubstr("No coordinator answers"));
  for (QPushButton* button : {&page_->jobs().pause(), &page_->jobs().stop(),
                              &page_->submit_form().submit(), &page_->access_form().allow()}) {
    EXPECT_FALSE(button->isEnabled());
  }
  const std::uint64_t before = rounds();
  federation_.start_coordinator();
  EXPECT_TRUE(ready()) << page_->presence().toStdString();
  EXPECT_TRUE(reaches(before + 3)) << "the plots' numbers go on too";
}

// The same rules as the allow-list's, before anything is sent.
TEST_F(ControlPageOverAFile, ChecksAnAgentToAllow) {
  federation_.start_coordinator();
  open_file();
  ASSERT_TRUE(ready());
  AccessForm& form = page_->access_form();
  form.id().setText("roof");
  form.key().setText("too short");
  EXPECT_FALSE(form.allow().isEnabled());
  EXPECT_TRUE(form.verdict().startsWith("⚠")) << form.verdict().toStdString();
  form.key().setText(QString::fromStdString(key_text(make_key_pair().value().public_key)));
  EXPECT_TRUE(form.allow().isEnabled());
  form.id().setText("no blanks in it");
  EXPECT_FALSE(form.allow().isEnabled());
}

// Alt+U pauses and Alt+T asks whether to stop. The button No has the focus.
TEST_F(ControlPageOverAFile, WorksByItsKeys) {
  federation_.start_all();
  open_file();
  ASSERT_TRUE(ready());
  ASSERT_TRUE(happens([&] { return page_->jobs().pause().isEnabled(); }));
  QApplication::setActiveWindow(page_.get());
  QTest::keyClick(page_.get(), Qt::Key_U, Qt::AltModifier);
  ASSERT_TRUE(is("test", wire::JobState::paused));
  ASSERT_TRUE(happens([&] { return page_->jobs().stop().isEnabled(); }));
  QTest::keyClick(page_.get(), Qt::Key_T, Qt::AltModifier);
  ASSERT_TRUE(happens([&] { return page_->confirm_bar().has_question(); }));
  EXPECT_TRUE(page_->confirm_bar().no().hasFocus()) << "Enter destroys nothing";
  QTest::keyClick(&page_->confirm_bar().no(), Qt::Key_Return);
  EXPECT_FALSE(page_->confirm_bar().has_question());
  EXPECT_EQ(state_of("test"), wire::JobState::paused);
}

}  // namespace
}  // namespace tributary::dashboard
