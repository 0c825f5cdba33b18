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

  void add(std::uint32_t bucket, std::uint32_t stage, CutPayload payload);
  // It is of no more use: its stage is closed.
  void cancel(std::uint32_t bucket, std::uint32_t stage);
  void clear() { items_.clear(); }
  void receipt(TimeNs now, TimeNs again_ns, const wire::Receipt& receipt);
  // How many parts may be under way.
  void set_window(std::uint32_t window) { window_ = std::max(window, 1u); }

  // Sends what the window allows, and again what has had no receipt for too long.
  void pump(TimeNs now, TimeNs again_ns, const Emit& emit);
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
};

}  // namespace tributary
