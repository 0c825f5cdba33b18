// A TCP relay between agents and the coordinator that simulates network failures. A thread of its
// own forwards the data; all members may be called from any thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/net/waker.h"

namespace tributary::end_to_end {

class Relay {
 public:
  // Forwards every connection to endpoint() to `target`, for example tcp://127.0.0.1:4640.
  explicit Relay(const std::string& target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string endpoint() const;

  // Drops the traffic in both directions without closing connections. Their queues fill, and new
  // connections are established but stay silent.
  void swallow();
  // Drops one direction only.
  void drop_uplink();
  void drop_downlink();
  // From now on each connection's uplink has this rate. A relay that is late catches up, so that a
  // busy machine does not change the rate.
  void limit_uplinks(double bytes_per_s);
  // Resets every connection and refuses new ones.
  void refuse();
  // Restores normal operation. With `forget`, existing connections are lost as behind a router
  // without its table: the callers are told, the target is not.
  void heal(bool forget = false);

  std::uint64_t connections() const;  // number of connections so far
  // Bytes received from the callers and from the target, counted in the TCP streams.
  std::uint64_t bytes_up() const;
  std::uint64_t bytes_down() const;

 private:
  enum Side : std::size_t { kCaller, kTarget };

  using Time = std::chrono::steady_clock::time_point;

  struct Pipe {
    std::vector<char> waiting;
    std::size_t sent = 0;
    Time due = {};     // when the last byte waiting has gone over the link
    bool idle = true;  // nothing was waiting when the relay last looked
    bool empty() const { return sent == waiting.size(); }
  };
  struct Pair {
    std::array<int, 2> files = {-1, -1};
    std::array<Pipe, 2> to;  // data waiting for each side
    bool forgotten = false;  // only the target's end is still open
    bool over = false;
  };

  void listen();
  void run();
  void accept();
  void pump(Pair& pair, Side from);
  void delay(Pipe& pipe) const;
  bool limited(Side from) const { return from == kCaller && uplink_bytes_per_s_ > 0; }
  // Whether data from this side is forwarded.
  bool passes(Side from) const { return from == kCaller ? up_ : down_; }
  static void reset(int& file);
  static void end(Pair& pair);

  std::uint16_t target_port_ = 0;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  Waker changed_;

  mutable std::mutex mutex_;  // guards the following members
  bool up_ = true;
  bool down_ = true;
  bool ending_ = false;
  double uplink_bytes_per_s_ = 0;  // 0: no limit
  std::uint64_t connections_ = 0;
  std::array<std::uint64_t, 2> bytes_from_{};
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace tributary::end_to_end
