#include "core/sim/machines/aggregator_host.h"

#include <variant>

#include "core/base/overloaded.h"
#include "core/sim/checks/ledger.h"

namespace tributary {

AggregatorHost::AggregatorHost(SimulationContext& sim, SimulatedNetwork& network, SumsNetwork& sums,
                               std::uint32_t index)
    : Host(sim, Ledger::agent_name(index), index + 1),
      network_(network),
      sums_(sums),
      index_(index) {}

Status AggregatorHost::boot() {
  machine_ = std::make_unique<NetworkAggregator>(
      NetworkAggregator::Options{.id = host_name(),
                                 .incarnation = draws_.bits() | 1,
                                 .address = "aggregator",
                                 .slots = sim_.scenario.aggregator.slots,
                                 .packet_values = sim_.scenario.aggregator.packet_values});
  sums_.start();
  return {};
}

void AggregatorHost::drop() {
  machine_.reset();
  sums_.end();
  network_.hang_up(index_);
}

void AggregatorHost::perform(Action& action) {
  std::visit(Overloaded{
                 [this](Send& sent) {
                   network_.send_up(index_, {std::move(sent.frame), sent.has_payload, {}});
                 },
                 [this](const ClosePeer&) {
                   network_.hang_up(index_);
                   network_.dial(index_);
                 },
                 [this](const InstallSums& request) {
                   // The number of the epoch is stored before the epoch is in force.
                   later(draw_ns(sim_.scenario.machines.disk, draws_),
                         [this, install = request.install] {
                           if (!install.remove) handle(sums_.install(install));
                         });
                 },
                 [this](const Note& note) { sim_.note(host_name(), note); },
                 [this](const Finished&) { kill({.fault = {}, .down_ns = 1'000'000'000}); },
                 [](const auto&) {},
             },
             action);
}

}  // namespace tributary
