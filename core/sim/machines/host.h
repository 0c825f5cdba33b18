// A simulated machine: a process with its clock and its disk, which is killed and started again.
// What the process is (coordinator or agent) is for the two that derive from this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/sim/disk/virtual_disk.h"
#include "core/sim/machines/room.h"
#include "core/sim/scenario/draws.h"
#include "core/store/database/journal.h"

namespace tributary {

// A steady clock that may run faster or slower than time does.
struct HostClock {
  double rate = 1;
  TimeNs offset_ns = 0;

  TimeNs local(TimeNs now) const;
  // The first moment at which the clock shows this or more.
  TimeNs when(TimeNs local_ns) const;
};

// How a process ends.
struct Ending {
  std::string_view fault;  // counted under this name; empty: not a fault
  bool power_cut = false;
  TimeNs down_ns = 0;  // until it is started again
};

class Host {
 public:
  Host(Room& room, std::string name, std::uint64_t index);
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& host_name() const { return name_; }
  VirtualDisk& disk() { return disk_; }
  HostClock& clock() { return clock_; }
  virtual bool running() const = 0;

  // Starts the process; tries again after a while where its journal cannot be opened.
  void start();
  void stop_restarting() { wanted_ = false; }

  // Ends the process at once. With a power cut, what is not synced is lost or torn.
  void kill(Ending ending);
  // The same, later: before the action that comes after so many more, or in the midst of a write or
  // sync after so many more.
  void kill_after_actions(std::uint64_t actions, Ending ending);
  void cut_power_after_operations(std::uint64_t operations, Ending ending);
  // Takes back what was planned and has not happened yet.
  void cancel_planned();

  void handle(const Event& event);

 protected:
  // Opens the journal and makes the state machine.
  virtual Status boot() = 0;
  // Takes both down.
  virtual void drop() = 0;
  virtual Actions feed(TimeNs local_ns, const Event& event) = 0;
  virtual void perform(Action& action) = 0;
  virtual TimeNs next_wakeup_ns() const = 0;
  // The process runs: what it does by itself.
  virtual void started() = 0;
  // After an event and all its actions.
  virtual void look() = 0;

  JournalOptions journal_options() const;
  // Whether the power went in the midst of what the disk just did; then the process is dead.
  bool died_of_power();
  // `body` is run after this delay unless the process ends before.
  template <typename Body>
  void later(TimeNs delay_ns, Body body) {
    room_.queue.after(delay_ns, [this, life = life_, body = std::move(body)]() mutable {
      if (life == life_ && running()) body();
    });
  }
  void plan_wakeup();

  Room& room_;
  SeededDraws draws_;
  std::uint64_t life_ = 0;  // counts the processes

 private:
  const std::string name_;
  VirtualDisk disk_;
  HostClock clock_;
  bool wanted_ = false;
  TimeNs wakeup_ns_ = INT64_MAX;  // that is planned, in virtual time
  std::optional<std::uint64_t> actions_left_;
  Ending after_actions_;
  Ending after_operations_;
  std::uint64_t wakeups_at_once_ = 0;
};

}  // namespace tributary
