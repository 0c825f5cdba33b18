#include "core/watch/watch_server.h"

#include <numeric>
#include <utility>

#include "core/run/run_follower.h"

namespace tributary {
namespace {

constexpr std::string_view kWatchComponent = "watch";
constexpr std::chrono::hours kUntilSomethingComes{1};  // wake() ends the wait earlier
// Interval of attempts to send again after a full queue: libzmq does not report when a queue has
// room.
constexpr std::chrono::milliseconds kSendAgainAfter{20};
// Bound on the events that are processed before a question is answered.
constexpr std::size_t kEventsAtOnceMax = 256;
// Minimum interval between log entries about refused connections; all of them are counted.
constexpr std::chrono::seconds kWordsEvery{10};

LinkLimits watch_limits() {
  LinkLimits limits;
  limits.frame_bytes_max = kWatchAnswerBytesMax;
  limits.payload_bytes_max = 0;  // an observer has at most two answers in flight
  limits.send_queue_messages = 2;
  limits.send_queue_bytes = kWatchAnswerBytesMax;
  limits.receive_queue_messages = 8;
  return limits;
}

}  // namespace

Result<std::unique_ptr<WatchServer>> WatchServer::open(WatchServerOptions options,
                                                       const Clock& clock, Log& log) {
  TRIBUTARY_ASSIGN(std::shared_ptr<LinkContext> context, LinkContext::open({.clock = &clock}));
  TRIBUTARY_ASSIGN(std::unique_ptr<Hub> hub, open_hub({.endpoint = options.endpoint,
                                                       .keys = options.keys,
                                                       .allowed = options.watchers,
                                                       .encrypted = options.encrypted,
                                                       .limits = watch_limits(),
                                                       .context = std::move(context)}));
  return std::unique_ptr<WatchServer>(
      new WatchServer(std::move(options), clock, log, std::move(hub)));
}

WatchServer::WatchServer(WatchServerOptions options, const Clock& clock, Log& log,
                         std::unique_ptr<Hub> hub)
    : options_(std::move(options)),
      clock_(clock),
      log_(log),
      hub_(std::move(hub)),
      endpoint_(hub_->endpoint()),
      // Each session has a reader of its own, which opens the journal when it is first used.
      watch_sessions_(
          {.open_run =
               [this] {
                 return std::make_unique<RunFollower>(
                     RunFollowerOptions{
                         .path = options_.journal, .rows_max = kWatchRowsMax, .own_journal = true},
                     clock_);
               },
           .ask_operator =
               [this](ConnectionId from, std::uint64_t number, std::string json) {
                 return options_.ask_operator && operators_->ask(from, number, std::move(json));
               },
           .operators = options_.operators,
           .sessions_max = options_.sessions_max}),
      unsent_(*hub_),
      // The members above are used by the threads, so these start last.
      operators_(std::make_unique<WatchOperators>(options_.ask_operator, [this] { hub_->wake(); })),
      thread_([this] { serve(); }) {}

// The serving thread ends first, because it uses operators_. The link sends what it has queued.
WatchServer::~WatchServer() {
  ending_ = true;
  hub_->wake();
  thread_.join();
  operators_.reset();  // wakes the hub once more
}

WatchServer::Counts WatchServer::counts() const {
  return {.sessions = sessions_,
          .questions = questions_,
          .refused = refused_,
          .turned_away = turned_away_,
          .bytes_out = unsent_.bytes_sent()};
}

void WatchServer::serve() {
  while (!ending_) {
    if (!look()) return;
    count();
  }
}

// Processes received messages first, so that no receive queue stays full, and then one question.
bool WatchServer::look() {
  const auto may_send = [this](ConnectionId to) { return !unsent_.waits(to); };
  for (WatchOperators::Answered& each : operators_->take()) {
    watch_sessions_.operator_answered(each.connection, each.number, std::move(each.json));
  }
  const std::chrono::nanoseconds now = clock_.now();
  std::chrono::nanoseconds deadline = watch_sessions_.has_work(may_send) ? now
                                      : unsent_.empty() ? now + kUntilSomethingComes
                                                        : now + kSendAgainAfter;
  for (std::size_t events = 0; events < kEventsAtOnceMax; ++events) {
    // Only the first receive() waits; the others take what has already arrived.
    Result<std::optional<LinkEvent>> event = hub_->receive(std::exchange(deadline, now));
    if (!event.ok()) {
      log_.error(kWatchComponent, "observers cannot be served any more",
                 {{"error", event.status().text()}});
      return false;
    }
    if (!event->has_value()) break;
    take(**event);
  }
  unsent_.send_again();
  if (std::optional<WatchSessions::Answer> answer = watch_sessions_.next(may_send)) {
    unsent_.send(answer->to, SharedSlice(std::move(answer->bytes)));
  }
  return true;
}

// The id is looked up for each question, because the allow-list may change during a connection.
void WatchServer::take(const LinkEvent& event) {
  if (const auto* received = std::get_if<Received>(&event)) {
    const std::string id =
        options_.watchers ? options_.watchers->id_of(received->peer) : std::string();
    watch_sessions_.take(received->connection, id, received->frame, clock_.now());
  } else if (const auto* gone = std::get_if<Disconnected>(&event)) {
    watch_sessions_.gone(gone->connection);
    unsent_.forget(gone->connection);
  } else if (const auto* refused = std::get_if<Refused>(&event)) {
    log_refused(*refused);
  }
}

void WatchServer::log_refused(const Refused& refused) {
  if (clock_.now() < next_word_at_) return;
  next_word_at_ = clock_.now() + kWordsEvery;
  log_.warning(kWatchComponent, "an observer was refused",
               {{"reason", name(refused.reason)}, {"source", refused.source}});
}

// The counters are atomic copies for other threads.
void WatchServer::count() {
  sessions_ = watch_sessions_.sessions();
  questions_ = watch_sessions_.counts().questions;
  refused_ = watch_sessions_.counts().refused;
  const LinkCounters counters = hub_->counters();
  turned_away_ =
      std::accumulate(counters.refused.begin(), counters.refused.end(), std::uint64_t{0});
}

}  // namespace tributary
