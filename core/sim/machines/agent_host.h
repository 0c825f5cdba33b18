// The process of a simulated agent: the production state machine and journal, a trainer that draws
// its updates, a link to the coordinator and connections to its peers.
//
// Tests derive from it to start the machine with another configuration and journal (boot), to
// observe every event and its actions (feed) and to perform actions differently (perform). Not
// thread-safe.
#pragma once

#include <memory>

#include "core/round/agent/agent.h"
#include "core/sim/machines/host.h"
#include "core/sim/machines/network.h"
#include "core/sim/machines/peer_network.h"
#include "core/sim/machines/sums_network.h"
#include "core/sim/scenario/mutation.h"
#include "core/store/agent/agent_journal.h"

namespace tributary {

class AgentHost : public Host, public Receiver {
 public:
  // `sums` is null without an aggregator in the network.
  AgentHost(SimulationContext& sim, SimulatedNetwork& network, PeerNetwork& peers,
            std::uint32_t index, SumsNetwork* sums = nullptr);

  bool running() const override { return machine_ != nullptr; }
  const Agent& machine() const { return *machine_; }

  // --- faults ---
  // The next `times` trainings take longer by `extra_ns` or fail.
  void train_slowly(std::uint32_t times, TimeNs extra_ns);
  void fail_training(std::uint32_t times) { trainings_.failures += times; }
  // The agent leaves its job, its process ends, and it starts again after `away_ns`.
  void leave(TimeNs away_ns);

  // --- Receiver ---
  bool listening() const override { return running(); }
  void receive(const FrameReceived& event) override;
  void connected(PeerId peer) override;
  void disconnected(PeerId peer) override;
  void alive(PeerId peer) override;

 protected:
  // The last step of boot(): creates the machine.
  Status run_machine(AgentConfig config, AgentState state);
  void drop() override;
  void look() override;
  Actions feed(TimeNs local_ns, const Event& event) override {
    return machine_->handle(local_ns, event);
  }
  void perform(Action& action) override;
  Account& account();
  // Returns the part of the round's update from value `first` on that the machine will take, and
  // enters it into the ledger. Call it just before that part is passed to the machine.
  SharedFloats offer(const FloatVector& update, std::uint64_t first, std::uint64_t round);

  SimulatedNetwork& network_;
  PeerNetwork& peers_;
  SumsNetwork* const sums_;
  const std::uint32_t index_;

 private:
  Status boot() override;
  TimeNs next_wakeup_ns() const override { return machine_->next_wakeup_ns(); }
  void started() override;
  Status sync_journal() override;
  // Tells the ledger if the journal has dropped the residual.
  Status check_residual(const AgentState& state);

  std::uint64_t buffered_bytes_max() const;
  void send(Send& send);
  void store(StoreAgent& store);
  bool store_late(StoreAgent& store);
  void train(const Train& train);

  SeededDraws training_draws_;
  std::unique_ptr<AgentJournal> journal_;
  std::unique_ptr<Agent> machine_;
  ResidualSkipper skipper_;
  ErrorForgetter forgetter_;
  bool restarted_ = false;  // no event was processed since the start
  struct Trainings {
    Token newest = 0;            // the machine has forgotten earlier ones
    std::uint32_t failures = 0;  // trainings that will fail
    std::uint32_t slow = 0;      // trainings that will take longer
    TimeNs slow_ns = 0;
  };
  Trainings trainings_;
  std::uint64_t residuals_dropped_ = 0;
  std::uint64_t power_failures_seen_ = 0;  // at the last start
  std::uint64_t events_ = 0;  // number of events, for checks that are not done every time
};

// An update whose values are multiples of 2^-10 between -1/8 and 1/8, so that sums of them are
// exact. It depends only on its arguments.
std::shared_ptr<FloatVector> dyadic_update(std::uint64_t seed, std::uint32_t agent,
                                           std::uint64_t round, std::size_t values);

}  // namespace tributary
