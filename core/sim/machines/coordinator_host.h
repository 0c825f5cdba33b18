// The coordinator's process: the production state machine and journal behind its one port.
#pragma once

#include <memory>
#include <optional>

#include "core/round/coordinator/coordinator.h"
#include "core/sim/machines/host.h"
#include "core/sim/machines/network.h"
#include "core/store/coordinator/coordinator_journal.h"

namespace tributary {

class CoordinatorHost final : public Host, public Receiver {
 public:
  CoordinatorHost(Room& room, SimulatedNetwork& network);

  bool running() const override { return machine_ != nullptr; }
  const Coordinator& machine() const { return *machine_; }

  // Ends when the next commit is in the journal, before it is published or in the midst of that.
  void kill_before_publish(TimeNs down_ns) { kill_at_commit_ns_ = down_ns; }
  void cancel_kill_before_publish() { kill_at_commit_ns_.reset(); }

  // --- Receiver ---
  bool listening() const override { return running(); }
  void receive(const FrameReceived& event) override { handle(event); }
  void connected(PeerId peer) override { handle(PeerConnected{peer}); }
  void disconnected(PeerId peer) override { handle(PeerDisconnected{peer}); }
  void alive(PeerId peer) override { handle(PeerAlive{peer}); }

 private:
  Status boot() override;
  void drop() override;
  Actions feed(TimeNs local_ns, const Event& event) override {
    return machine_->handle(local_ns, event);
  }
  void perform(Action& action) override;
  TimeNs next_wakeup_ns() const override { return machine_->next_wakeup_ns(); }
  void started() override;
  void look() override;

  void advise(const RoundPlayed& round);
  void send(Send& send);
  void store(StoreCoordinator& store);
  void record_outcome(const CoordinatorRecord& record, const Status& status);
  void submit();

  SimulatedNetwork& network_;
  std::unique_ptr<CoordinatorJournal> journal_;
  std::unique_ptr<Coordinator> machine_;
  std::optional<TimeNs> kill_at_commit_ns_;
  bool has_job_ = false;
  std::uint64_t looks_ = 0;
  std::uint64_t version_seen_ = UINT64_MAX;
};

}  // namespace tributary
