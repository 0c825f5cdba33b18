// The state that all machines of one simulation share: virtual time, disks, checks and totals. It
// is made first and destroyed last; the machines hold references to it. The scenario must outlive
// it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/sim/checks/byte_budget.h"
#include "core/sim/checks/ledger.h"
#include "core/sim/checks/watch.h"
#include "core/sim/disk/disk_vfs.h"
#include "core/sim/link/link.h"
#include "core/sim/scenario/event_queue.h"
#include "core/sim/scenario/mutation.h"
#include "core/sim/scenario/scenario.h"
#include "schemas/frame_generated.h"

namespace tributary {

// How often each kind of fault has happened, by name.
class FaultTally {
 public:
  void add(std::string_view kind, std::uint64_t times = 1) {
    if (times == 0 || kind.empty()) return;
    const auto found = counts_.find(kind);
    if (found != counts_.end()) {
      found->second += times;
    } else {
      counts_.emplace(std::string(kind), times);
    }
  }
  const std::map<std::string, std::uint64_t, std::less<>>& counts() const { return counts_; }

 private:
  std::map<std::string, std::uint64_t, std::less<>> counts_;
};

// Totals of the messages that all machines have sent.
struct SentTally {
  LinkTally links;
  // Bytes that agents and coordinator have passed to their links, by kind of message.
  std::array<std::uint64_t, static_cast<std::size_t>(wire::Message::MAX) + 1> message_bytes = {};
  std::uint64_t peer_bytes = 0;    // bytes passed to the links among agents
  std::uint64_t packet_bytes = 0;  // bytes of packets from and to the aggregator
};

// The number of the machines' notes, by name and reason. Both are literals, so the views stay
// valid.
class NoteTally {
 public:
  using OnNote = std::function<void(TimeNs, const std::string& host, const Note&)>;

  void on_note(OnNote on_note) { on_note_ = std::move(on_note); }
  void add(TimeNs now, const std::string& host, const Note& note) {
    ++counts_[{note.name, note.reason}];
    if (on_note_) on_note_(now, host, note);
  }
  const std::map<std::pair<std::string_view, std::string_view>, std::uint64_t>& counts() const {
    return counts_;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, std::uint64_t> counts_;
  OnNote on_note_;
};

// Not thread-safe: one thread runs a simulation.
struct SimulationContext {
  SimulationContext(const Scenario& with_scenario, std::uint64_t with_seed, Mutation with_mutation)
      : scenario(with_scenario),
        seed(with_seed),
        mutation(with_mutation),
        ledger(with_scenario.agents, with_scenario.values(), watch,
               with_scenario.machines.durability),
        budget(with_scenario.clients(), watch) {}

  TimeNs now() const { return queue.now_ns(); }
  void note(const std::string& host, const Note& note) { notes.add(now(), host, note); }

  const Scenario& scenario;
  const std::uint64_t seed;
  const Mutation mutation;
  EventQueue queue;
  ManualClock dates;  // the journals' clock for dates; nothing depends on it
  DiskVfs vfs;
  Watch watch;
  Ledger ledger;
  ByteBudget budget;
  FaultTally tally;
  SentTally sent;
  NoteTally notes;
  bool faulty = true;      // false once the faults have stopped
  std::uint64_t path = 0;  // hash of all events so far, in order
};

}  // namespace tributary
