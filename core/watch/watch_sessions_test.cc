// Tests of the answers to observers, without sockets: portions, operators' questions, bounds and
// turns.
#include "core/watch/watch_sessions.h"

#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/run_follower.h"
#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"

namespace tributary {
namespace {

using run_testing::kJob;
using run_testing::RunWriter;
using testing::HasSubstr;

bool all_may_receive(ConnectionId /*to*/) { return true; }

// WatchSessions with a run of twenty rounds, of which a portion has four.
class WatchSessionsTest : public testing::Test {
 protected:
  void SetUp() override {
    writer_.job();
    for (std::uint64_t round = 1; round <= 20; ++round) writer_.round(round);
  }

  // An operator's question that was passed on.
  struct Asked {
    ConnectionId from = 0;
    std::uint64_t number = 0;
    std::string json = {};
  };

  void ask(ConnectionId from, const WatchQuestion& question, const std::string& id = "desk-1") {
    const Result<Bytes> bytes = pack_question(question);
    ASSERT_TRUE(bytes.ok()) << bytes.status().text();
    watch_sessions_.take(from, id, *bytes, clock_.now());
  }
  void pull(ConnectionId from, std::uint64_t number, bool afresh = false) {
    ask(from, {number, PullQuestion{afresh}});
  }
  // An answer and its receiver.
  struct AnswerSent {
    ConnectionId to = 0;
    WatchAnswer answer = {};
  };
  // Processes one question and returns its answer, if any.
  std::optional<AnswerSent> next(const WatchSessions::MaySend& may_send = all_may_receive) {
    const std::optional<WatchSessions::Answer> answer = watch_sessions_.next(may_send);
    if (!answer) return std::nullopt;
    Result<WatchAnswer> opened = unpack_answer(answer->bytes);
    EXPECT_TRUE(opened.ok()) << opened.status().text();
    std::optional<AnswerSent> answer_sent(std::in_place);
    answer_sent->to = answer->to;
    if (opened.ok()) answer_sent->answer = *opened;
    return answer_sent;
  }
  // Requests one portion for this connection, which must be the only one that asks.
  WatchPortion portion(ConnectionId from, bool afresh = false) {
    pull(from, 1, afresh);
    std::optional<AnswerSent> answer_sent = next();
    EXPECT_TRUE(answer_sent && std::holds_alternative<WatchPortion>(answer_sent->answer.body));
    return answer_sent ? std::get<WatchPortion>(std::move(answer_sent->answer.body))
                       : WatchPortion();
  }
  // Requests portions until the end of the run.
  RunChanges all_of(ConnectionId from, bool afresh = false) {
    RunChanges all;
    for (bool more = true; more;) {
      WatchPortion one = portion(from, std::exchange(afresh, false));
      more = one.more;
      add_changes(std::move(one.changes), all);
    }
    return all;
  }
  // The error of an answer; ok if it has none.
  static Status trouble(const std::optional<AnswerSent>& answer_sent) {
    if (!answer_sent || !std::holds_alternative<Status>(answer_sent->answer.body)) return {};
    return std::get<Status>(answer_sent->answer.body);
  }

  store_testing::Folder folder_;
  ManualClock clock_;
  RunWriter writer_{folder_ / "run.db"};
  std::vector<Asked> asked_;
  bool operators_accept_ = true;
  WatchSessions watch_sessions_{
      {.open_run =
           [this] {
             return std::make_unique<RunFollower>(
                 RunFollowerOptions{.path = folder_ / "run.db", .rows_max = 4, .own_journal = true},
                 clock_);
           },
       .ask_operator =
           [this](ConnectionId from, std::uint64_t number, std::string json) {
             if (operators_accept_) asked_.push_back({from, number, std::move(json)});
             return operators_accept_;
           },
       .operators = {"chief"},
       .sessions_max = 3}};
};

// Only the first portion of a session is marked as first. New rows reach both sessions.
TEST_F(WatchSessionsTest, EachSessionReadsTheWholeRunOnce) {
  const WatchPortion first = portion(1);
  EXPECT_TRUE(first.first);
  EXPECT_TRUE(first.more);
  EXPECT_LT(first.changes.rounds.size(), 20u);
  RunChanges rest = all_of(1);
  EXPECT_EQ(first.changes.rounds.size() + rest.rounds.size(), 20u);
  EXPECT_EQ(all_of(2).rounds.size(), 20u);
  writer_.round(21);
  EXPECT_EQ(all_of(1).rounds.size(), 1u);
  EXPECT_FALSE(portion(1).first);
  EXPECT_EQ(all_of(2).reports.size(), 2u);
}

// An observer that has lost its state asks again within its session.
TEST_F(WatchSessionsTest, AfreshIsFromTheBeginning) {
  EXPECT_EQ(all_of(1).rounds.size(), 20u);
  const WatchPortion again = portion(1, true);
  EXPECT_TRUE(again.first);
  EXPECT_EQ(again.changes.rounds.size() + all_of(1).rounds.size(), 20u);
}

// Three questions from each of three sessions: the order is by turns, not by arrival.
TEST_F(WatchSessionsTest, SessionsTakeTurns) {
  for (const std::uint64_t number : {1u, 2u, 3u}) {
    for (const ConnectionId from : {7u, 8u, 9u}) pull(from, number);
  }
  std::vector<std::pair<ConnectionId, std::uint64_t>> order;
  while (const std::optional<AnswerSent> answer_sent = next())
    order.emplace_back(answer_sent->to, answer_sent->answer.number);
  EXPECT_THAT(order,
              testing::ElementsAre(testing::Pair(7, 1), testing::Pair(8, 1), testing::Pair(9, 1),
                                   testing::Pair(7, 2), testing::Pair(8, 2), testing::Pair(9, 2),
                                   testing::Pair(7, 3), testing::Pair(8, 3), testing::Pair(9, 3)));
  EXPECT_FALSE(watch_sessions_.has_work(all_may_receive));
}

// Reading costs time of the coordinator's disk, so it begins when the answer can be sent.
TEST_F(WatchSessionsTest, NothingIsReadForAnUnreachableObserver) {
  pull(1, 1);
  pull(2, 1);
  const auto not_to_the_first = [](ConnectionId to) { return to != 1; };
  EXPECT_EQ(next(not_to_the_first)->to, 2u);
  EXPECT_FALSE(watch_sessions_.has_work(not_to_the_first));
  EXPECT_FALSE(next(not_to_the_first));
  EXPECT_EQ(next()->to, 1u);
}

// Three places. The refusal has the number of the question, so that the observer can match it.
TEST_F(WatchSessionsTest, ThePlacesOfObserversAreLimited) {
  for (const ConnectionId from : {1u, 2u, 3u}) EXPECT_TRUE(portion(from).first);
  pull(4, 17);
  const std::optional<AnswerSent> answer_sent = next();
  EXPECT_EQ(trouble(answer_sent).code(), StatusCode::resource_exhausted);
  EXPECT_THAT(trouble(answer_sent).text(), HasSubstr("at most 3"));
  EXPECT_EQ(answer_sent->answer.number, 17u);
  watch_sessions_.gone(2);
  EXPECT_TRUE(portion(4).first) << "there is room again";
  EXPECT_EQ(watch_sessions_.sessions(), 3u);
}

// An observer that has crashed does not end its session.
TEST_F(WatchSessionsTest, ASilentObserverGivesItsPlaceToANewOne) {
  for (const ConnectionId from : {1u, 2u, 3u}) all_of(from);
  clock_.advance(WatchSessions::kSilentMax);
  all_of(1);
  EXPECT_TRUE(portion(4).first);
  EXPECT_TRUE(portion(2).first) << "the place was the second's, who now has the third's";
  EXPECT_FALSE(portion(1).first);
  pull(3, 9);
  EXPECT_EQ(trouble(next()).code(), StatusCode::resource_exhausted) << "nobody else is silent";
}

// Three operators' places besides three observers': with all screens open, an operator must still
// be able to stop a job.
TEST_F(WatchSessionsTest, AnOperatorTakesNoPlaceOfAnObserver) {
  for (const ConnectionId from : {1u, 2u, 3u}) EXPECT_TRUE(portion(from).first);
  for (const ConnectionId from : {4u, 5u, 6u}) {
    ask(from, {1, OperatorQuestion{"{}"}}, "chief");
    EXPECT_FALSE(next()) << "it is on its way";
  }
  EXPECT_EQ(asked_.size(), 3u);
  EXPECT_EQ(watch_sessions_.sessions(), 3u) << "that watch";
  ask(7, {2, OperatorQuestion{"{}"}}, "chief");
  EXPECT_EQ(trouble(next()).code(), StatusCode::resource_exhausted) << "of these too";
  pull(4, 3);
  EXPECT_EQ(trouble(next()).code(), StatusCode::resource_exhausted) << "no way to a fourth place";
  watch_sessions_.gone(2);
  EXPECT_TRUE(portion(4).first) << "an operator that begins to watch";
  ask(7, {4, OperatorQuestion{"{}"}}, "chief");
  EXPECT_FALSE(next());
  EXPECT_EQ(asked_.size(), 4u) << "whose place is free again";
  watch_sessions_.operator_answered(4, 1, "[4]");
  const std::optional<AnswerSent> answer_sent = next();
  ASSERT_TRUE(answer_sent && std::holds_alternative<OperatorAnswer>(answer_sent->answer.body));
  EXPECT_EQ(answer_sent->to, 4u) << "it was asked before it watched";
}

// Otherwise observers without the right could use up the operators' places.
TEST_F(WatchSessionsTest, ARefusedOperatorTakesNoPlace) {
  for (ConnectionId from = 1; from <= 3; ++from) {
    ask(from, {1, OperatorQuestion{"{}"}}, "desk-1");
    EXPECT_EQ(trouble(next()).code(), StatusCode::permission_denied);
  }
  ask(4, {1, OperatorQuestion{"{}"}}, "chief");
  EXPECT_FALSE(next());
  EXPECT_EQ(asked_.size(), 1u);
}

// All observers are silent, and an operator's question leaves their places alone.
TEST_F(WatchSessionsTest, ASilentSessionGivesItsPlaceToItsOwnKindOnly) {
  for (const ConnectionId from : {1u, 2u, 3u}) all_of(from);
  clock_.advance(WatchSessions::kSilentMax);
  ask(4, {1, OperatorQuestion{"{}"}}, "chief");
  EXPECT_FALSE(next());
  for (const ConnectionId from : {1u, 2u, 3u}) EXPECT_FALSE(portion(from).first);
}

// A client that never waits for answers must not fill the memory with questions.
TEST_F(WatchSessionsTest, RequestsWithoutWaitingAreBounded) {
  for (std::uint64_t number = 1; number <= 100; ++number) pull(1, number);
  std::size_t answers = 0;
  while (next()) ++answers;
  EXPECT_EQ(answers, WatchSessions::kQuestionsMax);
  EXPECT_EQ(watch_sessions_.counts().refused, 100 - WatchSessions::kQuestionsMax);
  EXPECT_EQ(watch_sessions_.counts().questions, WatchSessions::kQuestionsMax);
}

// Refusals are answered up to a bound and one by one; the well-behaved observer is served after at
// most one of them.
TEST_F(WatchSessionsTest, ARefusedObserverDelaysNoOther) {
  for (int i = 0; i < 1000; ++i)
    watch_sessions_.take(99, "stranger", bytes_of(std::string_view("noise")), clock_.now());
  pull(1, 1);
  bool served = false;
  std::size_t answers = 0;
  for (; const std::optional<AnswerSent> answer_sent = next(); ++answers) {
    served |= answer_sent->to == 1;
    EXPECT_TRUE(served || answers < 1);
    EXPECT_TRUE(answer_sent->to == 1 || trouble(answer_sent).code() == StatusCode::corrupt_data);
  }
  EXPECT_EQ(answers, WatchSessions::kRefusalsMax + 1);
  EXPECT_EQ(watch_sessions_.counts().refused, 1000u);
}

// A session that has read nothing has no open file.
TEST_F(WatchSessionsTest, ARoundIsReportedInDetail) {
  all_of(1);
  ask(1, {5, RoundQuestion{kJob, 3}});
  const std::optional<AnswerSent> answer_sent = next();
  ASSERT_TRUE(answer_sent && std::holds_alternative<RoundDetail>(answer_sent->answer.body));
  EXPECT_EQ(std::get<RoundDetail>(answer_sent->answer.body).round, 3u);
  EXPECT_EQ(std::get<RoundDetail>(answer_sent->answer.body).agents.size(), 3u);
  ask(1, {6, RoundQuestion{kJob, 300}});
  EXPECT_EQ(trouble(next()).code(), StatusCode::not_found);
  ask(2, {7, RoundQuestion{kJob, 3}});
  EXPECT_EQ(trouble(next()).code(), StatusCode::unavailable) << "nothing was read yet";
}

// The state machine answers later. Answers to other questions or sessions are ignored.
TEST_F(WatchSessionsTest, OperatorsAreAnsweredWhenTheCoordinatorHas) {
  ask(1, {5, OperatorQuestion{"{\"verb\":\"list\"}"}}, "chief");
  ask(1, {6, PullQuestion{}}, "chief");
  EXPECT_FALSE(next()) << "it is on its way";
  ASSERT_EQ(asked_.size(), 1u);
  EXPECT_EQ(asked_[0].json, "{\"verb\":\"list\"}");
  EXPECT_EQ(next()->answer.number, 6u) << "nothing else waits for it";
  ask(1, {7, OperatorQuestion{"{}"}}, "chief");
  EXPECT_EQ(trouble(next()).code(), StatusCode::resource_exhausted) << "one at a time";
  watch_sessions_.operator_answered(1, 4, "of another question");
  watch_sessions_.operator_answered(2, 5, "of another session");
  EXPECT_FALSE(next());
  watch_sessions_.operator_answered(1, 5, "[1]");
  const std::optional<AnswerSent> answer_sent = next();
  ASSERT_TRUE(answer_sent && std::holds_alternative<OperatorAnswer>(answer_sent->answer.body));
  EXPECT_EQ(std::get<OperatorAnswer>(answer_sent->answer.body).json, "[1]");
  operators_accept_ = false;
  ask(1, {8, OperatorQuestion{"{}"}}, "chief");
  EXPECT_EQ(trouble(next()).code(), StatusCode::resource_exhausted);
}

// The error names the setting that lists operators.
TEST_F(WatchSessionsTest, AnObserverThatIsNoOperatorGetsAnError) {
  ask(1, {5, OperatorQuestion{"{\"verb\":\"stop\"}"}}, "desk-1");
  const Status status = trouble(next());
  EXPECT_EQ(status.code(), StatusCode::permission_denied);
  EXPECT_THAT(status.text(), HasSubstr("'desk-1'"));
  EXPECT_THAT(status.text(), HasSubstr("watch.operators"));
  ask(1, {6, OperatorQuestion{"{}"}}, "");
  EXPECT_EQ(trouble(next()).code(), StatusCode::permission_denied) << "nor who has no id";
  EXPECT_TRUE(asked_.empty());
}

// An observer cannot look at the coordinator's disk, so the answer must say what is wrong there.
TEST_F(WatchSessionsTest, AnErrorOfTheFileIsReportedWithTheRowsRead) {
  WatchSessions watch_sessions(
      {.open_run =
           [this] {
             return std::make_unique<RunFollower>(RunFollowerOptions{.path = folder_ / "none.db"},
                                                  clock_);
           },
       .ask_operator = [](ConnectionId, std::uint64_t, const std::string&) { return false; }});
  watch_sessions.take(1, "desk-1", *pack_question({1, PullQuestion{}}), clock_.now());
  const std::optional<WatchSessions::Answer> answer = watch_sessions.next(all_may_receive);
  ASSERT_TRUE(answer);
  const Result<WatchAnswer> opened = unpack_answer(answer->bytes);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(std::get<WatchPortion>(opened->body).trouble.code(), StatusCode::not_found);
}

}  // namespace
}  // namespace tributary
