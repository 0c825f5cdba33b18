// Answers the questions of a coordinator's observers. It has no socket and no thread: questions and
// answers are passed as bytes. Each connection has a session, whose run is read from the position
// of its last answer. Waiting questions are bounded, and the sessions take turns with one question
// each. A session that only asks operators' questions takes no observer's place; the number of
// places for such sessions is the same.
//
// Not thread-safe.
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

// The functions and limits that WatchSessions works with.
struct WatchSessionsParts {
  // Opens the run from its beginning, for one session.
  std::function<std::unique_ptr<RunSource>()> open_run;
  // Passes on an operator's question, whose answer is passed to operator_answered(). Returns false
  // if too many questions wait.
  std::function<bool(ConnectionId from, std::uint64_t number, std::string json)> ask_operator;
  std::vector<std::string> operators = {};  // ids of the observers that may operate
  // Limit for observers, and the same limit for sessions that only operate.
  std::uint32_t sessions_max = 8;
};

class WatchSessions {
 public:
  // Bound on waiting questions of one session. A correct observer has at most one question of each
  // kind in flight. Further questions are counted and dropped without an answer.
  static constexpr std::size_t kQuestionsMax = 4;
  // Bound on waiting refusals, over all sessions. Further refusals are counted and dropped, because
  // only a client that sends too many questions can reach the bound.
  static constexpr std::size_t kRefusalsMax = 64;
  // A session that has asked nothing for this time loses its place if all places of its kind are
  // taken and a new session needs one. If it asks again, it starts from the beginning of the run.
  static constexpr std::chrono::seconds kSilentMax{60};

  // An answer as bytes and the connection to send it to.
  struct Answer {
    ConnectionId to = 0;
    Bytes bytes = {};
  };
  struct Counts {
    std::uint64_t questions = 0;
    std::uint64_t refused = 0;  // malformed questions and questions without a place
  };

  explicit WatchSessions(WatchSessionsParts parts) : parts_(std::move(parts)) {}

  // Takes a question. `id` is the id under which the sender's key is allowed now.
  void take(ConnectionId from, const std::string& id, ByteSpan question,
            std::chrono::nanoseconds now);
  void gone(ConnectionId connection) { sessions_.erase(connection); }
  void operator_answered(ConnectionId connection, std::uint64_t number, std::string json);

  // Whether an answer could be sent to this connection now.
  using MaySend = std::function<bool(ConnectionId to)>;
  bool has_work(const MaySend& may_send) const;
  // Processes one question of the session whose turn it is. Returns nothing if no answer is ready.
  std::optional<Answer> next(const MaySend& may_send);

  std::size_t sessions() const { return sessions_of(Place::watcher); }
  const Counts& counts() const { return counts_; }

 private:
  // The kind of place that a session takes. An observer's session costs more, because it has the
  // journal open and reads it.
  enum class Place : std::uint8_t { watcher, operators };
  struct Session {
    Place place = Place::watcher;
    std::string id = {};
    std::chrono::nanoseconds asked_at{0};
    std::unique_ptr<RunSource> run = {};  // null: not opened yet
    bool is_new = true;                   // no portion of the run was sent yet
    std::uint64_t operator_number = 0;    // number of the operator's question in progress
    bool operator_asked = false;
    std::deque<WatchQuestion> questions = {};
    std::optional<WatchAnswer> answered = {};  // the coordinator's answer to an operator
  };

  bool may_operate(const std::string& id) const;
  std::size_t sessions_of(Place place) const;
  bool free_place(Place place, std::chrono::nanoseconds now);
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

  WatchSessionsParts parts_;
  std::map<ConnectionId, Session> sessions_;
  ConnectionId last_served_ = 0;
  bool refusals_turn_ = false;
  std::deque<Answer> refusals_;
  Counts counts_;
};

}  // namespace tributary
