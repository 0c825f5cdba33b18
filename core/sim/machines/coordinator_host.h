// The process of the simulated coordinator: the production state machine and journal.
//
// Tests derive from it to start the machine with another configuration and journal (boot), to
// submit another job, to observe every event and its actions (feed) and to perform actions
// differently (perform). Not thread-safe.
#pragma once

#include <memory>
#include <optional>

#include "core/round/coordinator/coordinator.h"
#include "core/sim/machines/host.h"
#include "core/sim/machines/network.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary {

class CoordinatorHost : public Host, public Receiver {
 public:
  CoordinatorHost(SimulationContext& sim, SimulatedNetwork& network);

  bool running() const override { return machine_ != nullptr; }
  const Coordinator& machine() const { return *machine_; }

  // Kills the process after the next commit is stored in the journal, before the commit is
  // published or while it is.
  void kill_before_publish(TimeNs down_ns) { kill_at_commit_ns_ = down_ns; }
  void cancel_kill_before_publish() { kill_at_commit_ns_.reset(); }

  // --- Receiver ---
  bool listening() const override { return running(); }
  void receive(const FrameReceived& event) override { handle(event); }
  void connected(PeerId peer) override { handle(PeerConnected{peer}); }
  void disconnected(PeerId peer) override { handle(PeerDisconnected{peer}); }
  void alive(PeerId peer) override { handle(PeerAlive{peer}); }

 protected:
  // The last step of boot(): creates the machine.
  Status run_machine(CoordinatorConfig config, CoordinatorState state);
  // The job of the scenario. It is submitted until a journal has it.
  virtual Result<SubmitJob> job() const;
  void drop() override;
  Actions feed(TimeNs local_ns, const Event& event) override {
    return machine_->handle(local_ns, event);
  }
  void perform(Action& action) override;
  // Reports to the ledger whether a record that was passed to the journal was stored.
  void record_outcome(const CoordinatorRecord& record, const Status& status);

  SimulatedNetwork& network_;

 private:
  Status boot() override;
  TimeNs next_wakeup_ns() const override { return machine_->next_wakeup_ns(); }
  void started() override;
  void look() override;
  Status sync_journal() override;

  // The planner of the simulation, if the scenario has one.
  void advise(const RoundPlayed& round);
  void send(Send& send);
  void store(StoreCoordinator& store);
  // Submits the job unless the journal has one.
  void submit();

  std::unique_ptr<CoordinatorJournal> journal_;
  std::unique_ptr<Coordinator> machine_;
  std::optional<TimeNs> kill_at_commit_ns_;
  bool has_job_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t power_failures_seen_ = 0;    // at the last start
  std::uint64_t version_seen_ = UINT64_MAX;  // version of the last model that was compared
};

}  // namespace tributary
