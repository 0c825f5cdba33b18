// The process of a simulated aggregator in the network: the production state machine of its session
// with the coordinator, and its part in SumsNetwork. Not thread-safe.
#pragma once

#include <memory>

#include "core/round/aggregator/network_aggregator.h"
#include "core/sim/machines/host.h"
#include "core/sim/machines/network.h"
#include "core/sim/machines/sums_network.h"

namespace tributary {

class AggregatorHost : public Host, public Receiver {
 public:
  // In the network it has the number after the agents, `index`.
  AggregatorHost(SimulationContext& sim, SimulatedNetwork& network, SumsNetwork& sums,
                 std::uint32_t index);

  bool running() const override { return machine_ != nullptr; }

  // --- Receiver ---
  bool listening() const override { return running(); }
  void receive(const FrameReceived& event) override { handle(event); }
  void connected(PeerId peer) override { handle(PeerConnected{.peer = peer}); }
  void disconnected(PeerId peer) override { handle(PeerDisconnected{.peer = peer}); }
  void alive(PeerId peer) override { handle(PeerAlive{.peer = peer}); }

 private:
  Status boot() override;
  void drop() override;
  Actions feed(TimeNs local_ns, const Event& event) override {
    return machine_->handle(local_ns, event);
  }
  void perform(Action& action) override;
  TimeNs next_wakeup_ns() const override { return machine_->next_wakeup_ns(); }
  void started() override { network_.dial(index_); }
  void look() override {}
  Status sync_journal() override { return {}; }

  SimulatedNetwork& network_;
  SumsNetwork& sums_;
  const std::uint32_t index_;
  std::unique_ptr<NetworkAggregator> machine_;
};

}  // namespace tributary
