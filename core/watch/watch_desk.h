// What a coordinator answers to its watchers: questions and answers as bytes, without socket and
// thread. Every connection has a session, whose run is read from where its last answer ended; what
// waits is bounded, and sessions take turns with one question each. A session that only asks what
// operators ask takes no watcher's place: there are as many places for those.
//
// Threads: one at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/net/transport.h"
#include "core/run/run_source.h"
#include "core/watch/watch_message.h"

namespace tributary {

struct WatchDeskParts {
  // The run from its beginning, for one session.
  std::function<std::unique_ptr<RunSource>()> open_run;
  // Takes an operator's question, and answers by operator_answered(); false: too many wait.
  std::function<bool(ConnectionId from, std::uint64_t number, std::string json)> ask_operator;
  std::vector<std::string> operators = {};  // ids of those who may
  std::uint32_t sessions_max = 8;           // that watch, and as many that only ask as operators
};

class WatchDesk {
 public:
  // Of a session that wait. An honest watcher has one of each kind under way.
  static constexpr std::size_t kQuestionsMax = 4;
  // Of all sessions, that are not about their run. More are not given: who does not know why its
  // question is not answered has asked too many.
  static constexpr std::size_t kRefusalsMax = 64;
  // Who has asked nothing for so long gives its place to somebody who comes when all of that kind
  // are taken. It is told from the beginning if it asks again.
  static constexpr std::chrono::seconds kSilentMax{60};

  struct Answer {
    ConnectionId to = 0;
    Bytes bytes = {};
  };
  struct Counts {
    std::uint64_t questions = 0;
    std::uint64_t refused = 0;  // could not be read, or there is no room for them
  };

  explicit WatchDesk(WatchDeskParts parts) : parts_(std::move(parts)) {}

  // `id`: under which the sender's key is allowed now.
  void take(ConnectionId from, const std::string& id, ByteSpan question,
            std::chrono::nanoseconds now);
  void gone(ConnectionId connection) { sessions_.erase(connection); }
  void operator_answered(ConnectionId connection, std::uint64_t number, std::string json);

  using MaySend = std::function<bool(ConnectionId to)>;
  bool has_work(const MaySend& may_send) const;
  // Works on one question of the session whose turn it is. Nothing: nobody is to be told, yet.
  std::optional<Answer> next(const MaySend& may_send);

  std::size_t sessions() const { return sessions_of(Place::watcher); }
  const Counts& counts() const { return counts_; }

 private:
  // What a session costs: a watcher's has the journal open and reads it.
  enum class Place : std::uint8_t { watcher, operators };
  struct Session {
    Place place = Place::watcher;
    std::string id = {};
    std::chrono::nanoseconds asked_at{0};
    std::unique_ptr<RunSource> run = {};  // null: to be opened
    bool is_new = true;                   // nothing of the run was told
    std::uint64_t operator_number = 0;    // of the operator's question that is under way
    bool operator_asked = false;
    std::deque<WatchQuestion> questions = {};
    std::optional<WatchAnswer> answered = {};  // by the coordinator to an operator
  };

  bool may_operate(const std::string& id) const;
  std::size_t sessions_of(Place place) const;
  bool make_room(Place place, std::chrono::nanoseconds now);
  Result<Session*> session_of(ConnectionId from, const std::string& id,
                              const WatchQuestion& question, std::chrono::nanoseconds now);
  static bool is_ready(const Session& session) {
    return session.answered || !session.questions.empty();
  }
  std::optional<Answer> next_refusal();
  std::optional<Answer> next_of_sessions(const MaySend& may_send);
  void refuse(ConnectionId to, std::uint64_t number, Status why);
  std::optional<WatchAnswer> answer(ConnectionId from, Session& session);
  WatchAnswer pull(Session& session, std::uint64_t number, const PullQuestion& asked);
  WatchAnswer round(Session& session, std::uint64_t number, const RoundQuestion& asked);
  std::optional<WatchAnswer> ask(ConnectionId from, Session& session, std::uint64_t number,
                                 OperatorQuestion& asked);

  WatchDeskParts parts_;
  std::map<ConnectionId, Session> sessions_;
  ConnectionId last_served_ = 0;
  bool refusals_turn_ = false;
  std::deque<Answer> refusals_;
  Counts counts_;
};

}  // namespace tributary
