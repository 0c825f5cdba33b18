// An agent's payloads on their way to the coordinator: sent part by part within a window, and again
// until a receipt says that they are there.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/round/conversation.h"
#include "core/round/cut_payload.h"

namespace tributary {

class Outgoing {
 public:
  using Emit = std::function<void(std::uint32_t bucket, std::uint32_t stage, const CutPayload&,
                                  std::uint32_t part)>;
  // Says that a payload waits to be called.
  using Announce =
      std::function<void(std::uint32_t bucket, std::uint32_t stage, const CutPayload&)>;
  // Larger ones wait to be called, where the window is 0: to be told costs as much as to be sent.
  static constexpr std::uint64_t kUncalledBytesMax = 4u << 10;

  void add(std::uint32_t bucket, std::uint32_t stage, CutPayload payload);
  // It is of no more use: its stage is closed.
  void cancel(std::uint32_t bucket, std::uint32_t stage);
  void clear() { items_.clear(); }
  void receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt);
  // How many parts may be under way; with 0, what is added later waits to be called.
  void begin(std::uint32_t window) {
    called_ = window == 0;
    set_window(window);
  }
  void set_window(std::uint32_t window) { window_ = std::max(window, 1u); }
  // What waits to be called may have been forgotten with the session.
  void reconnected(std::uint32_t window) {
    set_window(window);
    for (Item& item : items_) {
      if (item.held) item.again_at_ns = 0;
    }
  }

  // Sends what the window allows, and again what has had no receipt for too long. Of what waits to
  // be called it says so, again and again.
  void pump(TimeNs now, TimeNs again_ns, const Emit& emit, const Announce& announce);
  TimeNs next_due_ns() const;
  bool empty() const { return items_.empty(); }
  std::uint64_t bytes() const;

 private:
  struct Item {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
    CutPayload payload;
    std::uint32_t next = 0;             // the first part that was never sent
    std::uint32_t confirmed = 0;        // parts that have arrived
    std::vector<std::uint32_t> repeat;  // parts that are asked for again
    bool held = false;                  // the coordinator has no room and will call
    TimeNs again_at_ns = kNever;
    TimeNs wait_ns = 0;
  };

  std::uint64_t in_flight_bytes() const;

  std::vector<Item> items_;
  std::uint32_t window_ = 1;
  bool called_ = false;
};

}  // namespace tributary
