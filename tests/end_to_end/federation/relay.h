// Stands between agents and their coordinator, as the network does, and can be cut.
#pragma once

#include <sys/types.h>

#include <array>
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
  // Whatever comes to endpoint() goes on to `target`, as tcp://127.0.0.1:4640.
  explicit Relay(const std::string& target);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string endpoint() const;

  // Nothing comes through any more, and nobody is told: connections stay, their queues fill, and
  // whoever dials gets a connection that says nothing.
  void swallow();
  // The same one way only: what the target, or the others, say still comes through.
  void swallow_what_goes_up();
  void swallow_what_comes_down();
  // Every connection is reset, and whoever dials is refused.
  void refuse();
  // As it was. With `forget`, connections from before are not known any more, as behind a router
  // that has lost its table: those who dialled are told so, the target is not.
  void heal(bool forget = false);

  std::uint64_t connections() const;  // that there have been
  // What has come from the callers and from the target: of TCP's streams, as the kernel gave it.
  std::uint64_t bytes_up() const;
  std::uint64_t bytes_down() const;

 private:
  enum Side : std::size_t { kCaller, kTarget };

  struct Pipe {
    std::vector<char> waiting;
    std::size_t sent = 0;
    bool empty() const { return sent == waiting.size(); }
  };
  struct Pair {
    std::array<int, 2> files = {-1, -1};
    std::array<Pipe, 2> to;  // what waits for each
    bool forgotten = false;  // the target's end is held open, and that is all
    bool over = false;
  };

  void listen();
  void run();
  void accept();
  void pump(Pair& pair, Side from);
  bool passes(Side from) const { return from == kCaller ? up_ : down_; }
  static void reset(int& file);
  static void end(Pair& pair);

  std::uint16_t target_port_ = 0;
  std::uint16_t port_ = 0;
  int listener_ = -1;
  Waker changed_;

  mutable std::mutex mutex_;  // guards what follows
  bool up_ = true;
  bool down_ = true;
  bool ending_ = false;
  std::uint64_t connections_ = 0;
  std::array<std::uint64_t, 2> bytes_from_{};
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace tributary::end_to_end
