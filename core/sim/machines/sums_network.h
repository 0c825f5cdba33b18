// The simulated packets between agents and an aggregator in the network, and the production code at
// both ends: the rules of the aggregator's slots, and each agent's exchange of buckets.
//
// Packets are lost, repeated and reordered as the scenario says, and nothing repeats them but the
// exchanges themselves. The aggregator's process is AggregatorHost, which takes part here while it
// runs. Not thread-safe; all times are virtual.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/collective/in_network/bucket_exchange.h"
#include "core/collective/in_network/slot_rules.h"
#include "core/round/common/machine/actions.h"
#include "core/sim/link/link.h"
#include "core/sim/machines/simulation_context.h"

namespace tributary {

class SumsNetwork {
 public:
  explicit SumsNetwork(SimulationContext& sim);

  // Receives the events of the agent with the same index. Call attach() once, before anything else.
  using Handler = std::function<void(const Event&)>;
  void attach(std::vector<Handler> agents) { agents_ = std::move(agents); }

  // --- an agent's host ---
  // `deadline_ns` is the request's deadline in virtual time.
  void exchange(std::uint32_t agent, SumInNetwork request, TimeNs deadline_ns);
  void stop(std::uint32_t agent, const RoundKey& id);
  // The agent's process has ended.
  void close(std::uint32_t agent);

  // --- the aggregator's host ---
  void start();
  void end() { rules_.reset(); }
  // Keeps the numbers of epochs, as the file of tributary-switchd does.
  EpochDecided install(const wire::InstallEpochT& install);

  // --- faults ---
  // The next results have wrong sums.
  void let_lie(std::uint32_t results) { lies_ = results; }
  void cut_off(std::uint32_t agent, TimeNs until_ns);
  void mend_all();

  const LinkTally& tally() const { return tally_; }

 private:
  struct Waiting {
    SumInNetwork request;
    TimeNs deadline_ns;
    std::shared_ptr<Bytes> sums = {};  // once it has begun
  };
  // The exchanges of one agent's process in one epoch.
  struct Client {
    std::uint64_t life = 0;   // number of processes so far
    SumInNetwork epoch = {};  // the last request; its epoch is that of `exchange`
    std::unique_ptr<in_network::BucketExchange> exchange = {};
    // Without an answer. Those that have begun come first.
    std::deque<Waiting> waiting = {};
    std::uint32_t answered = 0;  // buckets of the epoch
    TimeNs wakes_ns = INT64_MAX;
    Link up;
    Link down;

    std::uint32_t running() const { return exchange->client().begun() - answered; }
  };

  void go_on(std::uint32_t agent);
  bool begin_next(Client& client);
  void finish_first(std::uint32_t agent);
  void plan_wakeup(std::uint32_t agent);
  void carry(std::uint32_t agent, bool to_agent, Bytes datagram);
  void arrive(std::uint32_t agent, std::uint64_t life, bool to_agent, const Bytes& datagram);
  void aggregate(std::uint32_t agent, std::uint64_t life, const Bytes& datagram);
  void falsify(Bytes& result);

  SimulationContext& sim_;
  NetworkSettings packets_;
  std::vector<Handler> agents_;
  std::vector<Client> clients_;
  std::optional<in_network::SlotRules> rules_;      // empty: the aggregator does not run
  std::map<std::uint16_t, std::uint32_t> highest_;  // epoch, by handle
  std::uint32_t lies_ = 0;
  Bytes old_result_;  // to be replayed with another header
  SeededDraws draws_;
  LinkTally tally_;
};

}  // namespace tributary
