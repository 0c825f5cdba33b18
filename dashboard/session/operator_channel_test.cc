// Requests to a daemon that answers over the real socket: at once, late or not at all.
#include "dashboard/session/operator_channel.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <atomic>
#include <memory>

#include "core/net/zmq/control.h"
#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/session/run_session.h"
#include "dashboard/session/session_testing.h"

namespace tributary::dashboard {
namespace {

using run_testing::RunWriter;

class OperatorChannelTest : public testing::Test {
 protected:
  std::string run_db() { return folder_ / "run.db"; }
  void open() {
    session_ = std::make_unique<RunSession>(
        RunSessionOptions{.origin = origin_of_file(run_db(), std::chrono::milliseconds(5)),
                          .look_every = std::chrono::milliseconds(5)});
    QObject::connect(session_.get(), &RunSession::operator_answered,
                     [this](const OperatorAnswer& answer) { answers_.push_back(answer); });
  }
  void serve(ControlServer::Answer answer) {
    Result<std::unique_ptr<ControlServer>> server =
        ControlServer::open(control_path(run_db()), std::move(answer));
    ASSERT_TRUE(server.ok()) << server.status().text();
    server_ = *std::move(server);
  }

  // The daemon answers when the test allows it.
  void serve_late(const std::string& answer) {
    serve([this, answer](std::string_view) {
      asked_ = true;
      while (!over_) std::this_thread::yield();
      return answer;
    });
  }
  void TearDown() override { over_ = true; }

  store_testing::Folder folder_;
  std::atomic<bool> asked_ = false;
  std::atomic<bool> over_ = false;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<RunSession> session_;
  std::vector<OperatorAnswer> answers_;
};

TEST_F(OperatorChannelTest, AnswersComeInTheOrderOfTheQuestions) {
  serve([](std::string_view question) { return std::string(question) + "!"; });
  open();
  EXPECT_EQ(session_->ask_operator("a"), 1u);
  EXPECT_EQ(session_->ask_operator("b"), 2u);
  ASSERT_TRUE(happens([&] { return answers_.size() == 2; }));
  EXPECT_EQ(answers_[0].number, 1u);
  EXPECT_EQ(answers_[0].text, "a!");
  EXPECT_EQ(answers_[1].text, "b!");
  EXPECT_TRUE(answers_[1].status.ok());
}

TEST_F(OperatorChannelTest, AnAddressWithoutAListenerIsTheAnswer) {
  open();
  session_->ask_operator("a");
  ASSERT_TRUE(happens([&] { return answers_.size() == 1; }));
  EXPECT_EQ(answers_[0].status.code(), StatusCode::unavailable);
  serve([](std::string_view) { return std::string("here"); });
  session_->ask_operator("a");
  ASSERT_TRUE(happens([&] { return answers_.size() == 2; }));
  EXPECT_EQ(answers_[1].text, "here");
}

TEST_F(OperatorChannelTest, AnAnswerThatTakesItsTimeHoldsNoPictureUp) {
  serve_late("at last");
  RunWriter writer(run_db());
  writer.job();
  open();
  session_->ask_operator("a");
  ASSERT_TRUE(happens([&] { return asked_.load(); }));
  writer.round(1);
  EXPECT_TRUE(happens([&] {
    const RoundTable* const table = session_->view().rounds(session_->job());
    return table && table->size() == 1;
  }));
  EXPECT_TRUE(answers_.empty());
  over_ = true;
  EXPECT_TRUE(happens([&] { return answers_.size() == 1; }));
}

TEST_F(OperatorChannelTest, TooManyQuestionsAreRefusedAndNoneIsForgotten) {
  serve_late("");
  open();
  session_->ask_operator("first");
  ASSERT_TRUE(happens([&] { return asked_.load(); }));
  for (std::size_t i = 0; i <= OperatorChannel::kQuestionsMax; ++i) session_->ask_operator("more");
  ASSERT_TRUE(happens([&] { return answers_.size() == 1; }));
  EXPECT_EQ(answers_[0].status.code(), StatusCode::resource_exhausted);
  over_ = true;
  EXPECT_TRUE(happens([&] { return answers_.size() == OperatorChannel::kQuestionsMax + 2; }));
}

TEST_F(OperatorChannelTest, ASessionThatIsClosedWaitsForNoAnswer) {
  serve_late("");
  open();
  session_->ask_operator("a");
  session_->ask_operator("b");
  ASSERT_TRUE(happens([&] { return asked_.load(); }));
  session_.reset();
  EXPECT_TRUE(answers_.empty());
  over_ = true;
}

}  // namespace
}  // namespace tributary::dashboard
