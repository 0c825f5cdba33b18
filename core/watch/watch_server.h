// The port at which a coordinator tells of its run: a hub of its own, with an allow-list of its
// own, on a thread of its own that reads the journal's file as everybody else who looks on does.
// Rounds know nothing of it. A watcher that is slow waits for itself: nothing is kept for it but
// the answer to the question that it has asked.
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
#include "core/watch/watch_desk.h"
#include "core/watch/watch_operators.h"

namespace tributary {

struct WatchServerOptions {
  std::string endpoint = {};  // "tcp://*:4641"; port *: any
  KeyPair keys;
  std::shared_ptr<const AllowList> watchers = nullptr;
  bool encrypted = true;
  std::vector<std::string> operators = {};  // ids of watchers
  std::string journal = {};                 // of this process
  std::uint32_t sessions_max = 8;
  // An operator's question and its answer; called on a thread of the server's own, and may wait.
  std::function<std::string(std::string_view)> ask_operator;
};

class WatchServer {
 public:
  struct Counts {
    std::uint64_t sessions = 0;  // now
    std::uint64_t questions = 0;
    std::uint64_t refused = 0;      // questions
    std::uint64_t turned_away = 0;  // that the link has refused
    std::uint64_t bytes_out = 0;
  };

  // The clock and the log must outlive it.
  static Result<std::unique_ptr<WatchServer>> open(WatchServerOptions options, const Clock& clock,
                                                   Log& log);
  // Waits for the operator's answer that is being made, if one is.
  ~WatchServer();
  WatchServer(const WatchServer&) = delete;
  WatchServer& operator=(const WatchServer&) = delete;

  std::string endpoint() const { return endpoint_; }
  // Any thread.
  Counts counts() const;

 private:
  WatchServer(WatchServerOptions options, const Clock& clock, Log& log, std::unique_ptr<Hub> hub);

  void serve();
  bool look();
  void take(const LinkEvent& event);
  void tell_refused(const Refused& refused);
  void count();

  const WatchServerOptions options_;
  const Clock& clock_;
  Log& log_;
  const std::unique_ptr<Hub> hub_;
  const std::string endpoint_;
  WatchDesk desk_;
  UnsentAnswers unsent_;
  std::chrono::nanoseconds next_word_at_{0};  // on who was turned away
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint64_t> sessions_ = 0;
  std::atomic<std::uint64_t> questions_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> turned_away_ = 0;
  std::unique_ptr<WatchOperators> operators_;
  std::thread thread_;  // ends before all of these
};

}  // namespace tributary
