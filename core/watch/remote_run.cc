#include "core/watch/remote_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "core/net/zmq/spoke.h"
#include "core/watch/watch_message.h"

namespace tributary {
namespace {

constexpr std::chrono::milliseconds kStepWait{200};  // longest wait of step()
// Bound on the events that are read at once before a question. It is more than the link's queue
// holds.
constexpr int kEventsGatheredMax = 64;
// After this many times `patience` without an answer, the connection is closed. A device on the
// path, such as a tunnel, may keep accepting data that leads nowhere.
constexpr int kPatiencesUntilAnew = 6;

LinkLimits remote_run_limits() {
  LinkLimits limits;
  limits.frame_bytes_max = kWatchAnswerBytesMax;
  limits.payload_bytes_max = 0;
  limits.send_queue_messages = 8;
  limits.send_queue_bytes = 2 * kWatchQuestionBytesMax;
  limits.receive_queue_messages = 8;  // more than can be in flight
  return limits;
}

// A person waits at the window, so a coordinator that returns must be found soon.
LinkTimes remote_run_times(std::chrono::nanoseconds retry_after) {
  LinkTimes times;
  times.redial_max = std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(retry_after),
                                times.redial_min, times.redial_max);
  times.linger_max = std::chrono::milliseconds(0);  // unsent questions are useless after the end
  return times;
}

}  // namespace

// The link to the coordinator and the questions in flight on it. At most two questions are in
// flight: a Pull and one other.
class RemoteRun::Client {
 public:
  Client(RemoteRunOptions options, const Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  Result<bool> step(RunChanges& changes);
  bool at_end() const { return at_end_; }
  // A Status is the error in the answer, or the reason why no answer arrived.
  Result<RoundDetail> round_detail(RoundQuestion question);
  Result<std::string> ask_operator(OperatorQuestion question);
  void wake();

 private:
  // The question for the next portion of the run.
  struct Pull {
    std::uint64_t number = 0;                  // number of the question in flight; 0: none
    std::chrono::nanoseconds at{0};            // time at which the question was sent
    bool afresh = true;                        // from the run's beginning
    std::optional<WatchPortion> portion = {};  // arrived and not returned by step() yet
  };

  Status open();
  Status trouble(StatusCode code, std::string expected, std::string got, std::string remedy) const;
  Status of_coordinator(const Status& status) const;
  void fail(Status why);
  Result<bool> listen(std::chrono::nanoseconds deadline);
  Status go_on(std::chrono::nanoseconds deadline);
  Status hear_what_gathered();
  Status be_connected(std::chrono::nanoseconds deadline);
  template <typename Answer, typename Question>
  Result<Answer> ask(Question question, std::chrono::nanoseconds deadline);
  void hang_up();
  void take(const LinkEvent& event);
  void take(ByteSpan answer);
  void take_pulled(WatchAnswer answer);
  void pull();
  Result<bool> hand_over(RunChanges& changes);
  Result<std::uint64_t> send(WatchQuestion question);

  const RemoteRunOptions options_;
  const Clock& clock_;
  std::mutex mutex_;  // guards link_ for wake()
  std::shared_ptr<Transport> link_;
  std::atomic<bool> woken_ = false;
  ConnectionId connection_ = 0;         // 0: none
  Status trouble_;                      // the current error; ok if none
  std::chrono::nanoseconds ask_at_{0};  // after an error: no question before this time
  std::uint64_t last_number_ = 0;
  Pull pull_;
  bool has_returned_ = false;  // a portion of the run was returned since construction
  bool at_end_ = false;        // whether the last step() reached the end
  std::uint64_t asked_ = 0;    // number of the other question in flight; 0: none
  std::optional<WatchAnswer> answer_;
};

// --- the connection ----------------------------------------------------------------------------

Status RemoteRun::Client::trouble(StatusCode code, std::string expected, std::string got,
                                  std::string remedy) const {
  return Status(code, {.what = fmt::format("coordinator at {}", options_.endpoint),
                       .expected = std::move(expected),
                       .got = std::move(got),
                       .remedy = std::move(remedy)});
}

Status RemoteRun::Client::of_coordinator(const Status& status) const {
  const Fault& fault = status.fault();
  return trouble(status.code(), fault.expected, fault.got, fault.remedy);
}

// Opens the link unless it is open. After an error it waits until retry_after has passed.
Status RemoteRun::Client::open() {
  if (link_) return {};
  if (!trouble_.ok() && clock_.now() < ask_at_) return trouble_;
  const auto opened = [&]() -> Result<std::unique_ptr<Spoke>> {
    TRIBUTARY_ASSIGN(std::shared_ptr<LinkContext> context,
                     // One spoke needs few sockets.
                     LinkContext::open({.sockets_max = 16, .clock = &clock_}));
    return open_spoke({.endpoint = options_.endpoint,
                       .keys = options_.keys,
                       .hub = options_.coordinator,
                       .encrypted = options_.encrypted,
                       .limits = remote_run_limits(),
                       .times = remote_run_times(options_.retry_after),
                       .context = std::move(context)});
  };
  Result<std::unique_ptr<Spoke>> link = opened();
  if (!link.ok()) {
    fail(link.status());
    return trouble_;
  }
  trouble_ = {};
  const std::lock_guard lock(mutex_);
  link_ = *std::move(link);
  return {};
}

// Any thread. The mutex keeps the link alive during the call.
void RemoteRun::Client::wake() {
  woken_ = true;
  const std::lock_guard lock(mutex_);
  if (link_) link_->wake();
}

// No question is asked for a while; an answer in flight may still arrive.
void RemoteRun::Client::fail(Status why) {
  trouble_ = std::move(why);
  ask_at_ = clock_.now() + options_.retry_after;
}

// Processes one link event. Returns false if none occurred before the deadline.
Result<bool> RemoteRun::Client::listen(std::chrono::nanoseconds deadline) {
  const Result<std::optional<LinkEvent>> event = link_->receive(deadline);
  if (!event.ok()) {
    fail(of_coordinator(event.status()));
    hang_up();
    return trouble_;
  }
  if (event->has_value()) take(**event);
  return event->has_value();
}

// Processes the events since the last call, because the connection may have ended long ago.
Status RemoteRun::Client::hear_what_gathered() {
  for (int events = 0; events < kEventsGatheredMax; ++events) {
    TRIBUTARY_ASSIGN(const bool something, listen(clock_.now()));
    if (!something) break;
  }
  return {};
}

// Closes the link. It is opened again for the next question.
void RemoteRun::Client::hang_up() {
  connection_ = 0;
  pull_.number = asked_ = 0;
  const std::lock_guard lock(mutex_);
  link_.reset();
}

// A new connection starts without questions in flight, and the coordinator reads the run from its
// beginning.
void RemoteRun::Client::take(const LinkEvent& event) {
  if (const auto* made = std::get_if<Connected>(&event)) {
    connection_ = made->connection;
    pull_.number = asked_ = 0;
    pull_.afresh = true;  // the coordinator's position belongs to the connection
    trouble_ = {};
    ask_at_ = {};
  } else if (const auto* gone = std::get_if<Disconnected>(&event)) {
    connection_ = 0;
    pull_.number = asked_ = 0;
    trouble_ = of_coordinator(gone->why);
  } else if (const auto* unreachable = std::get_if<Unreachable>(&event)) {
    trouble_ = of_coordinator(unreachable->why);
  } else if (const auto* refused = std::get_if<Refused>(&event)) {
    pull_.number = 0;
    pull_.afresh = true;
    fail(trouble(StatusCode::corrupt_data, "an answer", std::string(name(refused->reason)),
                 "use a dashboard and a coordinator of the same release"));
  } else if (const auto* received = std::get_if<Received>(&event)) {
    take(received->frame);
  }
}

Result<std::uint64_t> RemoteRun::Client::send(WatchQuestion question) {
  question.number = ++last_number_;
  TRIBUTARY_ASSIGN(Bytes bytes, pack_question(question));
  TRIBUTARY_TRY(link_->send(connection_, std::move(bytes)));
  return question.number;
}

// --- answers -----------------------------------------------------------------------------------

void RemoteRun::Client::take(ByteSpan bytes) {
  Result<WatchAnswer> answer = unpack_answer(bytes);
  if (!answer.ok()) {
    // The content of this answer is lost, so the run must be read from the beginning.
    pull_.number = 0;
    pull_.afresh = true;
    if (asked_ != 0) answer_ = WatchAnswer{.number = asked_, .body = answer.status()};
    return fail(answer.status());
  }
  const bool of_no_question = answer->number == 0;  // the coordinator could not read our question
  if (asked_ != 0 && (answer->number == asked_ || of_no_question)) {
    answer_ = *std::move(answer);
  } else if (pull_.number != 0 && (answer->number == pull_.number || of_no_question)) {
    take_pulled(*std::move(answer));
  }  // otherwise it is an answer that no call waits for any more
}

// The answer to a Pull.
void RemoteRun::Client::take_pulled(WatchAnswer answer) {
  pull_.number = 0;
  if (auto* portion = std::get_if<WatchPortion>(&answer.body)) {
    pull_.afresh = false;
    trouble_ = {};
    pull_.portion = std::move(*portion);
  } else if (const auto* status = std::get_if<Status>(&answer.body)) {
    fail(*status);
  } else {
    pull_.afresh = true;
    fail(trouble(StatusCode::corrupt_data, "a portion of the run", "another answer", ""));
  }
}

// Asks for the next portion if a connection exists and no such question is in flight.
void RemoteRun::Client::pull() {
  if (connection_ == 0 || pull_.number != 0 || pull_.portion || clock_.now() < ask_at_) return;
  const Result<std::uint64_t> number = send({.body = PullQuestion{.afresh = pull_.afresh}});
  if (!number.ok()) return fail(of_coordinator(number.status()));
  pull_.number = *number;
  pull_.at = clock_.now();
}

// --- questions ---------------------------------------------------------------------------------

// Waits for a portion until kStepWait has passed or wake() was called.
Result<bool> RemoteRun::Client::step(RunChanges& changes) {
  at_end_ = false;
  TRIBUTARY_TRY(open());
  const std::chrono::nanoseconds deadline = clock_.now() + kStepWait;
  while (!pull_.portion && !woken_.exchange(false)) {
    pull();
    TRIBUTARY_TRY(listen(deadline).status());
    if (!pull_.portion && clock_.now() >= deadline) break;
  }
  if (pull_.portion) return hand_over(changes);
  if (!trouble_.ok()) return trouble_;
  const std::chrono::nanoseconds waited = clock_.now() - pull_.at;
  if (pull_.number == 0 || waited < options_.patience) return false;
  if (waited >= kPatiencesUntilAnew * options_.patience) hang_up();
  return trouble(StatusCode::deadline_exceeded, "an answer", "none so far",
                 "the answer is still awaited; check the load of the coordinator's machine");
}

// Asks the next question before it returns, so that the answer is in flight while the caller
// processes this one.
Result<bool> RemoteRun::Client::hand_over(RunChanges& changes) {
  WatchPortion portion = *std::move(pull_.portion);
  pull_.portion.reset();
  portion.changes.begins_anew |= portion.first && has_returned_;
  has_returned_ = true;
  add_changes(std::move(portion.changes), changes);
  if (!portion.trouble.ok()) {
    fail(std::move(portion.trouble));
    return trouble_;
  }
  if (portion.more) pull();
  at_end_ = !portion.more;
  return portion.more;
}

// Waits for one event, as long as neither wake() was called nor the deadline has passed.
Status RemoteRun::Client::go_on(std::chrono::nanoseconds deadline) {
  if (woken_.exchange(false))
    return trouble(StatusCode::cancelled, "an answer", "the end of the wait", "");
  if (clock_.now() < deadline) return listen(deadline).status();
  return trouble(StatusCode::deadline_exceeded, "an answer", "none in time",
                 "ask again, and check the load of the coordinator's machine");
}

// Waits until a connection exists, or returns the reason why the attempt failed.
Status RemoteRun::Client::be_connected(std::chrono::nanoseconds deadline) {
  while (connection_ == 0) {
    if (!trouble_.ok()) return trouble_;
    TRIBUTARY_TRY(go_on(deadline));
  }
  return {};
}

// Asks one question and waits for its answer. Portions that arrive meanwhile are kept for step().
template <typename Answer, typename Question>
Result<Answer> RemoteRun::Client::ask(Question question, std::chrono::nanoseconds deadline) {
  TRIBUTARY_TRY(be_connected(deadline));
  const ConnectionId connection = connection_;
  TRIBUTARY_ASSIGN(asked_, send({.body = std::move(question)}));
  answer_.reset();
  Status waited;
  while (!answer_ && waited.ok()) {
    waited = go_on(deadline);
    if (connection_ != connection) {
      waited = trouble(StatusCode::unavailable, "an answer", "the end of the connection",
                       "ask again when the coordinator is back");
    }
  }
  asked_ = 0;
  if (!answer_) return waited;
  WatchAnswer answer = *std::exchange(answer_, std::nullopt);
  if (auto* body = std::get_if<Answer>(&answer.body)) return std::move(*body);
  if (auto* status = std::get_if<Status>(&answer.body)) return std::move(*status);
  return trouble(StatusCode::corrupt_data, "an answer to the question", "another answer", "");
}

Result<RoundDetail> RemoteRun::Client::round_detail(RoundQuestion question) {
  TRIBUTARY_TRY(open());
  return ask<RoundDetail>(question, clock_.now() + options_.patience);
}

Result<std::string> RemoteRun::Client::ask_operator(OperatorQuestion question) {
  TRIBUTARY_TRY(open());
  TRIBUTARY_TRY(hear_what_gathered());
  // Only the current attempt counts. The result of an earlier attempt may be old.
  if (connection_ == 0) trouble_ = {};
  Result<OperatorAnswer> answer = ask<OperatorAnswer>(
      std::move(question), clock_.now() + options_.patience + options_.more_for_operators);
  // If a connection breaks without a packet, the kernel takes longer than this to notice.
  if (answer.status().code() == StatusCode::deadline_exceeded && link_) hang_up();
  if (!answer.ok()) return answer.status();
  return std::move(answer->json);
}

// -----------------------------------------------------------------------------------------------

RemoteRun::RemoteRun(RemoteRunOptions options, const Clock& clock)
    : client_(std::make_unique<Client>(std::move(options), clock)) {}

RemoteRun::~RemoteRun() = default;

Result<bool> RemoteRun::step(RunChanges& changes) { return client_->step(changes); }

bool RemoteRun::at_end() const { return client_->at_end(); }

Result<RoundDetail> RemoteRun::round_detail(std::uint64_t job, std::uint64_t round) {
  return client_->round_detail({.job = job, .round = round});
}

Result<std::string> RemoteRun::ask_operator(std::string_view question) {
  return client_->ask_operator({.json = std::string(question)});
}

void RemoteRun::wake() { client_->wake(); }

}  // namespace tributary
