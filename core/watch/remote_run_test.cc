// Tests of a coordinator's server and its observers over real sockets and with a real journal.
#include "core/watch/remote_run.h"
#include "core/base/log/memory_log_testing.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "core/net/zmq/link_testing.h"
#include "core/run/run_follower.h"
#include "core/run/run_testing.h"
#include "core/store/testing/folder_testing.h"
#include "core/watch/watch_server.h"
#include "core/watch/watch_testing.h"

namespace tributary {
namespace {

using link_testing::new_keys;
using run_testing::kJob;
using run_testing::RunWriter;
using testing::HasSubstr;

constexpr std::chrono::seconds kSlowMachine{90};  // long enough for sanitizers on a loaded machine

// A coordinator's journal with 30 rounds, a server over it and observers in the same process. The
// test's observer is called desk-1.
class RemoteRunTest : public testing::Test {
 protected:
  void SetUp() override {
    allowed_->allow(keys_.public_key, "desk-1");
    writer_.job();
    writer_.agents(true);
    write_rounds(30);
  }

  // Writes rounds with all kinds of rows that a portion can have.
  void write_rounds(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      ++round_;
      writer_.round(round_, {.decided = round_ % 10 == 0});
      writer_.metric(kAccuracyMetric, round_, 0.5);
      writer_.metric("gap", round_, std::numeric_limits<double>::quiet_NaN(), "a");
      writer_.link("a", "", 0.01, 1e-6);
      writer_.event("round_committed", "round " + std::to_string(round_));
    }
  }

  // Starts the server, at the address of the previous one if there was one.
  void serve(std::vector<std::string> operators = {}, std::uint32_t sessions_max = 8) {
    server_.reset();
    Result<std::unique_ptr<WatchServer>> server = WatchServer::open(
        {.endpoint = endpoint_,
         .keys = coordinator_,
         .watchers = allowed_,
         .operators = std::move(operators),
         .journal = folder_ / "run.db",
         .sessions_max = sessions_max,
         .ask_operator = [this](std::string_view question) { return answer_operator_(question); }},
        clock_, log_);
    ASSERT_TRUE(server.ok()) << server.status().text();
    server_ = *std::move(server);
    endpoint_ = server_->endpoint();
  }
  RemoteRunOptions options(const KeyPair& keys) const {
    return {.endpoint = endpoint_,
            .keys = keys,
            .coordinator = coordinator_.public_key,
            .retry_after = std::chrono::milliseconds(20)};
  }
  // An observer with the allowed key.
  std::unique_ptr<RemoteRun> watcher() {
    return std::make_unique<RemoteRun>(options(keys_), clock_);
  }
  std::unique_ptr<RemoteRun> allowed_watcher(const std::string& id) {
    const KeyPair keys = new_keys();
    allowed_->allow(keys.public_key, id);
    return std::make_unique<RemoteRun>(options(keys), clock_);
  }

  // Steps until the condition holds for all changes so far and the last step's status.
  using Condition = std::function<bool(const RunChanges&, const Status&)>;
  bool read_until(RemoteRun& run, RunChanges& all, const Condition& condition) {
    const auto give_up_at = clock_.now() + kSlowMachine;
    while (clock_.now() < give_up_at) {
      const Result<bool> more = run.step(all);
      if (condition(all, more.status())) return true;
    }
    return false;
  }
  // Steps until this many events and plans have been read.
  bool read_events(RemoteRun& run, RunChanges& all, std::size_t count) {
    return read_until(run, all, [&](const RunChanges& received, const Status&) {
      return received.events.size() >= count && received.plans.size() >= count;
    });
  }
  // Steps until the last status has this code.
  bool fails_with(RemoteRun& run, StatusCode code, Status* status = nullptr) {
    RunChanges ignored;
    return read_until(run, ignored, [&](const RunChanges&, const Status& last) {
      if (status) *status = last;
      return last.code() == code;
    });
  }
  // Everything that a RunFollower on the coordinator's machine reads.
  RunChanges from_file() {
    RunFollower follower({.path = folder_ / "run.db", .own_journal = true}, clock_);
    RunChanges all;
    for (bool more = true; more;) {
      const Result<bool> step = follower.step(all);
      EXPECT_TRUE(step.ok()) << step.status().text();
      more = step.ok() && *step;
    }
    return all;
  }
  // The rows without begins_anew, which depends on the time of reading.
  static std::vector<std::string> rows_of(RunChanges changes) {
    changes.begins_anew = false;
    return watch_testing::dump(changes);
  }

  store_testing::Folder folder_;
  SystemClock clock_;
  MemoryLog log_;
  RunWriter writer_{folder_ / "run.db"};
  std::uint64_t round_ = 0;
  KeyPair coordinator_ = new_keys();
  KeyPair keys_ = new_keys();
  std::shared_ptr<AllowList> allowed_ = std::make_shared<AllowList>();
  std::string endpoint_ = "tcp://127.0.0.1:*";
  std::function<std::string(std::string_view)> answer_operator_ = [](std::string_view question) {
    return "[" + std::string(question) + "]";
  };
  std::atomic<bool> ending_ = false;
  std::unique_ptr<WatchServer> server_;
};

// An observer reads across the network the same rows as a reader of the file.
TEST_F(RemoteRunTest, AGrowingRunIsReportedAsItsFileHasIt) {
  serve();
  const auto run = watcher();
  RunChanges all;
  ASSERT_TRUE(read_events(*run, all, 30));
  EXPECT_TRUE(all.overview_read);
  EXPECT_FALSE(all.begins_anew);
  write_rounds(20);
  ASSERT_TRUE(read_events(*run, all, 50));
  EXPECT_EQ(all.rounds.size(), 50u);
  EXPECT_EQ(all.reports.size(), 100u);
  EXPECT_EQ(all.metrics.size(), 100u);
  // If the run is read at once, the metrics have another order.
  RunChanges file = from_file();
  const auto by_round = [](const NewMetric& one, const NewMetric& other) {
    return std::tie(one.name, one.round) < std::tie(other.name, other.round);
  };
  std::ranges::sort(all.metrics, by_round);
  std::ranges::sort(file.metrics, by_round);
  EXPECT_EQ(rows_of(all), rows_of(file));
  const WatchServer::Counts counts = server_->counts();
  EXPECT_EQ(counts.sessions, 1u);
  EXPECT_GE(counts.questions, 2u);
  EXPECT_GT(counts.bytes_out, 1000u);
}

// Three observers and a writer at the same time. Each observer gets every row once and in order.
TEST_F(RemoteRunTest, WhileItIsReadOthersWriteIt) {
  serve();
  std::thread coordinator([this] { write_rounds(100); });
  std::vector<std::unique_ptr<RemoteRun>> runs;
  std::vector<RunChanges> all(3);
  for (std::size_t i = 0; i < all.size(); ++i) runs.push_back(watcher());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(read_until(*runs[i], all[i], [](const RunChanges& received, const Status&) {
      return received.rounds.size() >= 130 && received.events.size() >= 130 &&
             received.reports.size() >= 260;
    }));
  }
  coordinator.join();
  for (const RunChanges& received : all) {
    ASSERT_EQ(received.rounds.size(), 130u);
    EXPECT_EQ(received.reports.size(), 260u);
    for (std::size_t i = 0; i < received.rounds.size(); ++i)
      EXPECT_EQ(received.rounds[i].round, i + 1);
    for (std::size_t i = 1; i < received.events.size(); ++i) {
      EXPECT_GT(received.events[i].number, received.events[i - 1].number);
    }
  }
}

// The new server knows nothing of the old session, so the observer reads from the beginning and
// says so.
TEST_F(RemoteRunTest, ReadingContinuesWhenACoordinatorReturns) {
  serve();
  const auto run = watcher();
  RunChanges all;
  ASSERT_TRUE(read_events(*run, all, 30));
  server_.reset();
  Status status;
  ASSERT_TRUE(fails_with(*run, StatusCode::unavailable, &status));
  EXPECT_THAT(status.text(), HasSubstr(endpoint_));
  EXPECT_EQ(run->round_detail(kJob, 3).status().code(), StatusCode::unavailable);
  write_rounds(5);
  serve();
  ASSERT_TRUE(read_events(*run, all, 35));
  EXPECT_TRUE(all.begins_anew);
  EXPECT_EQ(all.rounds.size(), 35u) << "what was there before is not counted twice";
  EXPECT_EQ(rows_of(all), rows_of(from_file()));
}

// Both the reader and an operator's question get the same error.
TEST_F(RemoteRunTest, AKeyThatIsNotAllowedGetsARemedy) {
  serve();
  const KeyPair keys = new_keys();
  RemoteRun run(options(keys), clock_);
  Status status;
  ASSERT_TRUE(fails_with(run, StatusCode::permission_denied, &status));
  EXPECT_THAT(status.text(), HasSubstr("allow-list"));
  EXPECT_EQ(run.ask_operator("{}").status().code(), StatusCode::permission_denied);
  // Once its key is allowed, it connects without further help.
  allowed_->allow(keys.public_key, "late");
  RunChanges all;
  EXPECT_TRUE(read_events(run, all, 30));
  EXPECT_GE(server_->counts().turned_away, 1u);
}

// The observer knows the coordinator's key, so another machine at the address shows nothing.
TEST_F(RemoteRunTest, AnotherCoordinatorThanTheOneThatIsMeantIsNotTalkedTo) {
  serve();
  RemoteRunOptions wrong = options(keys_);
  wrong.coordinator = new_keys().public_key;
  RemoteRun run(wrong, clock_);
  EXPECT_TRUE(fails_with(run, StatusCode::mismatch));
}

// Retrying would not help, so the first step fails.
TEST_F(RemoteRunTest, AnEndpointThatMakesNoSenseIsAnError) {
  RemoteRunOptions wrong = options(keys_);
  wrong.endpoint = "carrier pigeon";
  RemoteRun run(wrong, clock_);
  RunChanges changes;
  const Status status = run.step(changes).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.text(), HasSubstr("carrier pigeon"));
}

// The same detail as from the file, and the reader goes on afterwards.
TEST_F(RemoteRunTest, ARoundIsReportedInDetail) {
  serve();
  const auto run = watcher();
  RunChanges all;
  ASSERT_TRUE(read_events(*run, all, 30));
  const Result<RoundDetail> detail = run->round_detail(kJob, 10);
  ASSERT_TRUE(detail.ok()) << detail.status().text();
  RunFollower follower({.path = folder_ / "run.db", .own_journal = true}, clock_);
  RunChanges ignored;
  ASSERT_TRUE(follower.step(ignored).ok());
  EXPECT_EQ(watch_testing::dump(*detail), watch_testing::dump(*follower.round_detail(kJob, 10)));
  EXPECT_EQ(detail->alternatives.size(), 2u);
  EXPECT_EQ(run->round_detail(kJob, 1000).status().code(), StatusCode::not_found);
  write_rounds(1);
  EXPECT_TRUE(read_events(*run, all, 31)) << "what is new comes all the same";
}

// The server passes an operator's question on unread; an observer's is refused with the observer's
// name.
TEST_F(RemoteRunTest, OperatorsAskAndOthersMayNot) {
  serve({"chief"});
  const auto chief = allowed_watcher("chief");
  const Result<std::string> answer = chief->ask_operator("{\"verb\":\"list\"}");
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(*answer, "[{\"verb\":\"list\"}]");
  const Status refused = watcher()->ask_operator("{\"verb\":\"stop\"}").status();
  EXPECT_EQ(refused.code(), StatusCode::permission_denied);
  EXPECT_THAT(refused.text(), HasSubstr("'desk-1'"));
}

// The answer waits on a condition that the test sets after another observer has read everything.
TEST_F(RemoteRunTest, ASlowOperatorsAnswerDelaysNoObserver) {
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false;
  bool may_answer = false;
  answer_operator_ = [&](std::string_view) {
    std::unique_lock lock(mutex);
    asked = true;
    changed.notify_all();
    changed.wait(lock, [&] { return may_answer; });
    return std::string("done");
  };
  serve({"chief"});
  const auto chief = allowed_watcher("chief");
  Result<std::string> answer = std::string();
  std::thread body([&] { answer = chief->ask_operator("{}"); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return asked; });
  }
  const auto run = watcher();
  RunChanges all;
  EXPECT_TRUE(read_events(*run, all, 30));
  {
    const std::lock_guard lock(mutex);
    may_answer = true;
    changed.notify_all();
  }
  body.join();
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(*answer, "done");
}

// The refused observer retries by itself, so it gets the place that becomes free.
TEST_F(RemoteRunTest, OneObserverTooManyIsRefusedAndAcceptedLater) {
  serve({}, 2);
  auto first = watcher();
  const auto second = allowed_watcher("desk-2");
  const auto third = allowed_watcher("desk-3");
  RunChanges one;
  RunChanges two;
  ASSERT_TRUE(read_events(*first, one, 30));
  ASSERT_TRUE(read_events(*second, two, 30));
  Status status;
  ASSERT_TRUE(fails_with(*third, StatusCode::resource_exhausted, &status));
  EXPECT_THAT(status.text(), HasSubstr("at most 2"));
  first.reset();
  RunChanges three;
  EXPECT_TRUE(read_events(*third, three, 30));
  EXPECT_EQ(three.rounds.size(), 30u);
}

// An observer that requests the whole run repeatedly and reads nothing from its socket. The memory
// for its answers is bounded, and other observers are served as usual.
TEST_F(RemoteRunTest, AnObserverThatNeverReadsDelaysNoOther) {
  for (int i = 0; i < 2000; ++i) writer_.event("filler", std::string(1000, 'x'));
  serve();
  const KeyPair keys = new_keys();
  allowed_->allow(keys.public_key, "deaf");
  LinkLimits limits;
  limits.frame_bytes_max = kWatchAnswerBytesMax;
  limits.receive_queue_messages = 1;
  link_testing::Side silent = link_testing::Federation::spoke(
      {.endpoint = endpoint_, .keys = keys, .hub = coordinator_.public_key, .limits = limits});
  ASSERT_TRUE(link_testing::pump({&silent}, [&] { return silent.connected(); }));
  std::atomic<bool> enough = false;
  std::thread body([&] {
    for (std::uint64_t number = 1; !enough; ++number) {
      ignore_error(
          silent.link->send(silent.connection(), *pack_question({number, PullQuestion{true}})));
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 3; ++i) {
    const auto run = watcher();
    RunChanges all;
    EXPECT_TRUE(read_events(*run, all, 30));
    EXPECT_EQ(all.rounds.size(), 30u);
  }
  const auto give_up_at = clock_.now() + kSlowMachine;
  while (server_->counts().refused == 0 && clock_.now() < give_up_at) std::this_thread::yield();
  EXPECT_GT(server_->counts().refused, 0u) << "it is not read for any longer";
  enough = true;
  body.join();
}

// A dashboard reads and asks over two connections with one key.
TEST_F(RemoteRunTest, AnObserverThatAlsoAsksTakesOnePlace) {
  serve({"desk-1"}, 1);
  const auto watches = watcher();
  RunChanges all;
  ASSERT_TRUE(read_events(*watches, all, 30));
  const auto body = watcher();
  EXPECT_EQ(body->ask_operator("{}").value(), "[{}]");
  write_rounds(1);
  EXPECT_TRUE(read_events(*watches, all, 31));
  EXPECT_EQ(server_->counts().sessions, 1u);
}

// Without step(), nothing has processed the end of the connection when the next question is asked.
// A question that is in flight at that end is lost. It is not repeated, because the coordinator may
// have received it.
TEST_F(RemoteRunTest, AClientThatOnlyAsksRecoversALostConnection) {
  serve({"desk-1"});
  const auto run = watcher();
  ASSERT_EQ(run->ask_operator("{}").value(), "[{}]");
  server_.reset();
  const Status unanswered = run->ask_operator("{}").status();
  EXPECT_EQ(unanswered.code(), StatusCode::unavailable) << unanswered.text();
  serve({"desk-1"});
  Result<std::string> answer = std::string();
  for (int tries = 0; tries < 3; ++tries) {
    answer = run->ask_operator("{}");
    if (answer.ok()) break;
    EXPECT_EQ(answer.status().code(), StatusCode::unavailable) << answer.status().text();
  }
  ASSERT_TRUE(answer.ok()) << answer.status().text();
  EXPECT_EQ(*answer, "[{}]");
}

// A coordinator that accepts every question and answers none.
TEST_F(RemoteRunTest, AQuestionWithoutAnAnswerGivesTheConnectionUp) {
  link_testing::Federation coordinator;
  coordinator.allowed->allow(keys_.public_key, "desk-1");
  link_testing::Side silent = coordinator.hub();
  RemoteRunOptions impatient = options(keys_);
  impatient.endpoint = coordinator.endpoint;
  impatient.coordinator = coordinator.hub_keys.public_key;
  impatient.patience = std::chrono::milliseconds(400);
  impatient.more_for_operators = std::chrono::milliseconds(400);
  RemoteRun run(impatient, clock_);
  std::atomic<bool> over = false;
  std::thread body([&] {
    while (!over) {
      const Status status = run.ask_operator("{}").status();
      EXPECT_EQ(status.code(), StatusCode::deadline_exceeded) << status.text();
    }
  });
  EXPECT_TRUE(link_testing::pump(
      {&silent}, [&] { return silent.count<Connected>() >= 2 && silent.count<Received>() >= 2; }));
  over = true;
  body.join();
}

// The connection stands but nothing is answered for 200 ms, as when a process hangs.
TEST_F(RemoteRunTest, ASilentCoordinatorIsDialledAgain) {
  link_testing::Federation coordinator;
  coordinator.allowed->allow(keys_.public_key, "desk-1");
  link_testing::Side silent = coordinator.hub();
  RemoteRunOptions impatient = options(keys_);
  impatient.endpoint = coordinator.endpoint;
  impatient.coordinator = coordinator.hub_keys.public_key;
  impatient.patience = std::chrono::milliseconds(200);
  RemoteRun run(impatient, clock_);
  std::atomic<bool> over = false;
  bool late_answer_reported = false;
  std::thread reads([&] {
    RunChanges changes;
    while (!over)
      late_answer_reported |= run.step(changes).status().code() == StatusCode::deadline_exceeded;
  });
  EXPECT_TRUE(link_testing::pump(
      {&silent}, [&] { return silent.count<Connected>() >= 2 && silent.count<Received>() >= 2; }));
  over = true;
  reads.join();
  EXPECT_TRUE(late_answer_reported);
}

// A window that closes must not wait for an answer that never arrives.
TEST_F(RemoteRunTest, AWaiterCanBeWoken) {
  answer_operator_ = [this](std::string_view) {
    while (!ending_) std::this_thread::yield();
    return std::string();
  };
  serve({"chief"});
  const auto chief = allowed_watcher("chief");
  std::thread wakes([&] {
    while (!ending_) {
      chief->wake();
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(chief->ask_operator("{}").status().code(), StatusCode::cancelled);
  ending_ = true;
  wakes.join();
}

}  // namespace
}  // namespace tributary
