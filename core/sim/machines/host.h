// A simulated machine: a process with its clock and its disk, which can be killed and started
// again. The two derived classes define what the process is (coordinator or agent). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/sim/disk/virtual_disk.h"
#include "core/sim/machines/simulation_context.h"
#include "core/sim/scenario/draws.h"
#include "core/store/database/journal.h"

namespace tributary {

// A steady clock that may run faster or slower than virtual time.
struct HostClock {
  double rate = 1;
  TimeNs offset_ns = 0;

  TimeNs local(TimeNs now) const;
  // The earliest virtual time at which the clock shows `local_ns` or more.
  TimeNs when(TimeNs local_ns) const;
};

// The end of a process.
struct Ending {
  std::string_view fault;  // name under which the fault is counted; empty: not a fault
  bool power_cut = false;
  TimeNs down_ns = 0;  // time until it is started again
};

class Host {
 public:
  Host(SimulationContext& sim, std::string name, std::uint64_t index);
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& host_name() const { return name_; }
  VirtualDisk& disk() { return disk_; }
  HostClock& clock() { return clock_; }
  virtual bool running() const = 0;

  // Starts the process. Tries again after 0.3 s if its journal cannot be opened.
  void start();
  void stop_restarting() { restarts_ = false; }

  // Ends the process at once. In a power cut, unsynced data is lost or torn.
  void kill(Ending ending);
  // The same at a later point: before the action after this many more, or during the write or sync
  // after this many more.
  void kill_after_actions(std::uint64_t actions, Ending ending);
  void cut_power_after_operations(std::uint64_t operations, Ending ending);
  // Cancels the planned ends that have not happened yet.
  void cancel_planned();

  // Passes an event to the machine and performs its actions.
  void handle(const Event& event);

 protected:
  // Opens the journal and creates the state machine.
  virtual Status boot() = 0;
  // Destroys both.
  virtual void drop() = 0;
  virtual Actions feed(TimeNs local_ns, const Event& event) = 0;
  virtual void perform(Action& action) = 0;
  virtual TimeNs next_wakeup_ns() const = 0;
  // Called when the process runs, for what it does on its own.
  virtual void started() = 0;
  // Called after an event and all its actions.
  virtual void look() = 0;
  // Makes the journal durable.
  virtual Status sync_journal() = 0;

  JournalOptions journal_options() const;
  // Whether the power failed during the last operation of the disk. The process has then ended.
  bool died_of_power();
  // Runs `body` after this delay, unless the process ends before.
  template <typename Body>
  void later(TimeNs delay_ns, Body body) {
    sim_.queue.after(delay_ns, [this, life = life_, body = std::move(body)]() mutable {
      if (life == life_ && running()) body();
    });
  }
  void plan_wakeup();
  // Number of power failures so far.
  std::uint64_t power_failures() const { return power_failures_; }

  SimulationContext& sim_;
  SeededDraws draws_;
  std::uint64_t life_ = 0;  // number of starts and ends; identifies the process

 private:
  void plan_sync();

  const std::string name_;
  VirtualDisk disk_;
  HostClock clock_;
  bool restarts_ = false;
  TimeNs wakeup_ns_ = INT64_MAX;  // virtual time of the planned wakeup
  std::optional<std::uint64_t> actions_left_;
  Ending after_actions_;
  Ending after_operations_;
  std::uint64_t wakeups_at_once_ = 0;
  std::uint64_t power_failures_ = 0;
};

}  // namespace tributary
