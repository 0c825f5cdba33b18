#include "core/sim/machines/host.h"

#include <fmt/format.h>

#include <cmath>

namespace tributary {
namespace {

// Pause before the next start if the journal cannot be opened.
constexpr TimeNs kRestartDelayNs = 300'000'000;
// The journals of a thousand agents must fit into memory, and their logs must be copied back from
// time to time.
constexpr std::uint64_t kLogBytes = 256u << 10;
// More immediate wakeups in a row mean that the machine makes no progress.
constexpr std::uint64_t kWakeupsAtOnceMax = 10'000;
constexpr TimeNs kSecondNs = 1'000'000'000;

}  // namespace

TimeNs HostClock::local(TimeNs now) const {
  return offset_ns + (rate == 1 ? now : static_cast<TimeNs>(static_cast<double>(now) * rate));
}

TimeNs HostClock::when(TimeNs local_ns) const {
  if (local_ns == INT64_MAX) return INT64_MAX;
  const TimeNs since = local_ns - offset_ns;
  if (rate == 1) return since;
  // Rounding may give a time at which the clock does not show `local_ns` yet.
  TimeNs at = static_cast<TimeNs>(std::ceil(static_cast<double>(since) / rate));
  while (local(at) < local_ns) ++at;
  return at;
}

Host::Host(SimulationContext& sim, std::string name, std::uint64_t index)
    : sim_(sim),
      draws_(sim.seed, DrawUse::node, index),
      name_(std::move(name)),
      disk_(SeededDraws(sim.seed, DrawUse::disk, index)) {
  sim_.vfs.mount(name_, disk_);
  // The offsets differ, so that no two clocks agree.
  clock_.offset_ns = static_cast<TimeNs>(draws_.below(1000)) * kSecondNs;
}

JournalOptions Host::journal_options() const {
  return {.path = "/" + name_ + "/journal.db",
          .vfs = sim_.vfs.name(),
          .durability = sim_.scenario.machines.durability,
          .boot_id = fmt::format("boot {}", power_failures_),
          .clock = &sim_.dates,
          .log_bytes = kLogBytes};
}

void Host::start() {
  restarts_ = true;
  if (running()) return;
  disk_.power_on();  // a new process
  ++life_;
  wakeup_ns_ = INT64_MAX;
  // The power sometimes fails again during the start, because the recovery of a journal must
  // survive that too.
  if (sim_.faulty && after_operations_.power_cut && draws_.chance(0.25)) {
    cut_power_after_operations(draws_.below(20), after_operations_);
  } else {
    after_operations_ = {};
  }
  if (Status status = boot(); !status.ok()) {
    if (died_of_power()) return;
    if (!sim_.faulty) {
      sim_.watch.report(sim_.now(), "journal", name_ + " cannot start: " + status.text());
    }
    disk_.power_off();
    kill({.fault = {}, .power_cut = false, .down_ns = kRestartDelayNs});
    return;
  }
  if (died_of_power()) return;
  started();
  if (!running()) return;
  plan_wakeup();
  plan_sync();
}

// A sync that fails is made up for by copying the log, as daemons do.
void Host::plan_sync() {
  const MachineSettings& machines = sim_.scenario.machines;
  if (machines.durability != Durability::seconds_30) return;
  later(static_cast<TimeNs>(machines.sync_s * 1e9), [this] {
    ignore_error(sync_journal());
    if (!died_of_power()) plan_sync();
  });
}

void Host::kill(Ending ending) {
  if (!running() && !disk_.powerless()) return;
  sim_.tally.add(ending.fault);
  disk_.power_off();  // no object may change the disk during its destruction
  drop();
  if (ending.power_cut) {
    disk_.lose_unsynced();
    ++power_failures_;
  }
  ++life_;
  cancel_planned();
  if (!restarts_) return;
  // The process starts again unless something else has started or stopped it meanwhile.
  sim_.queue.after(ending.down_ns, [this, life = life_] {
    if (life == life_ && restarts_) start();
  });
}

void Host::kill_after_actions(std::uint64_t actions, Ending ending) {
  actions_left_ = actions;
  after_actions_ = ending;
}

void Host::cut_power_after_operations(std::uint64_t operations, Ending ending) {
  disk_.power_off_after(operations);
  after_operations_ = ending;
}

void Host::cancel_planned() {
  actions_left_.reset();
  disk_.power_off_after(UINT64_MAX);
}

bool Host::died_of_power() {
  if (!disk_.powerless()) return false;
  kill(after_operations_);
  return true;
}

// The process may end during any action. The remaining actions are then lost, as in a real crash.
void Host::handle(const Event& event) {
  if (!running()) return;
  Actions actions = feed(clock_.local(sim_.now()), event);
  const std::uint64_t life = life_;
  for (Action& action : actions) {
    if (actions_left_ && (*actions_left_)-- == 0) {
      kill(after_actions_);
      return;
    }
    perform(action);
    if (life != life_) return;
  }
  look();
  plan_wakeup();
}

// Plans the machine's next wakeup unless an earlier one is planned.
void Host::plan_wakeup() {
  const TimeNs due = clock_.when(next_wakeup_ns());
  if (due == INT64_MAX || due >= wakeup_ns_) return;
  wakeups_at_once_ = due <= sim_.now() ? wakeups_at_once_ + 1 : 0;
  if (wakeups_at_once_ > kWakeupsAtOnceMax) {
    sim_.watch.report(sim_.now(), "progress", name_ + " asks for one tick after the other");
    wakeups_at_once_ = 0;
    return;
  }
  wakeup_ns_ = std::max(due, sim_.now());
  sim_.queue.at(wakeup_ns_, [this, life = life_, planned = wakeup_ns_] {
    // The process has ended, or an earlier wakeup was planned since.
    if (life != life_ || wakeup_ns_ != planned) return;
    wakeup_ns_ = INT64_MAX;
    handle(Tick{});
  });
}

}  // namespace tributary
