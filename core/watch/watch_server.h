// The server at which observers read a coordinator's run. It has a hub, an allow-list and a thread
// of its own, and reads the journal's file as any other reader does. Rounds do not depend on it. A
// slow observer delays only itself: the server keeps nothing for it except the answer to its
// question.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log/log.h"
#include "core/net/zmq/hub.h"
#include "core/watch/unsent_answers.h"
#include "core/watch/watch_operators.h"
#include "core/watch/watch_sessions.h"

namespace tributary {

// The address, the keys and the limits of a server.
struct WatchServerOptions {
  std::string endpoint = {};  // "tcp://*:4641"; "*" as port picks one
  KeyPair keys;
  std::shared_ptr<const AllowList> watchers = nullptr;  // may change while the server runs
  bool encrypted = true;                                // false: an observer's key is only a claim
  std::vector<std::string> operators = {};              // ids of observers that may operate
  std::string journal = {};                             // path of this process's journal
  std::uint32_t sessions_max = 8;
  // Answers an operator's question. Called on a thread of the server's own, and may block.
  std::function<std::string(std::string_view)> ask_operator;
};

class WatchServer {
 public:
  struct Counts {
    std::uint64_t sessions = 0;  // current number
    std::uint64_t questions = 0;
    std::uint64_t refused = 0;      // questions that were refused
    std::uint64_t turned_away = 0;  // connections and messages that the link has refused
    std::uint64_t bytes_out = 0;
  };

  // Opens the port and starts the thread. Fails as open_hub() does. Later errors of the link are
  // logged and end the service, but not the process. The clock and the log must outlive the server.
  static Result<std::unique_ptr<WatchServer>> open(WatchServerOptions options, const Clock& clock,
                                                   Log& log);
  // Waits for the operator's answer in progress, if any.
  ~WatchServer();
  WatchServer(const WatchServer&) = delete;
  WatchServer& operator=(const WatchServer&) = delete;

  std::string endpoint() const { return endpoint_; }
  // Any thread may call it.
  Counts counts() const;

 private:
  WatchServer(WatchServerOptions options, const Clock& clock, Log& log, std::unique_ptr<Hub> hub);

  void serve();
  bool look();
  void take(const LinkEvent& event);
  void log_refused(const Refused& refused);
  void count();

  const WatchServerOptions options_;
  const Clock& clock_;
  Log& log_;
  const std::unique_ptr<Hub> hub_;
  const std::string endpoint_;
  WatchSessions watch_sessions_;
  UnsentAnswers unsent_;
  // Time of the next log entry about refused connections.
  std::chrono::nanoseconds next_word_at_{0};
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint64_t> sessions_ = 0;
  std::atomic<std::uint64_t> questions_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> turned_away_ = 0;
  std::unique_ptr<WatchOperators> operators_;
  std::thread thread_;  // ends before the members above are destroyed
};

}  // namespace tributary
