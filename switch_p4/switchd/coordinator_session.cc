#include "switch_p4/switchd/coordinator_session.h"

#include <utility>

#include "core/base/overloaded.h"
#include "switch_p4/switchd/jobs/install_order.h"

namespace tributary::switchd {

Result<std::unique_ptr<CoordinatorSession>> CoordinatorSession::open(
    CoordinatorSessionParts parts) {
  std::unique_ptr<CoordinatorSession> session(new CoordinatorSession(std::move(parts)));
  TRIBUTARY_TRY(session->set_up());
  return session;
}

// The seed is random, so that aggregators that lost the coordinator together do not reconnect
// together.
Status CoordinatorSession::set_up() {
  const SwitchSettings& settings = parts_.settings;
  TRIBUTARY_ASSIGN(const std::shared_ptr<const KeyPair> keys, settings.link.keys());
  TRIBUTARY_ASSIGN(const std::uint64_t seed, draw_incarnation());
  TRIBUTARY_ASSIGN(link_, settings.link.open(*keys, seed));
  TRIBUTARY_ASSIGN(const std::uint64_t incarnation, draw_incarnation());
  machine_ = std::make_unique<NetworkAggregator>(
      NetworkAggregator::Options{.id = settings.link.id,
                                 .build = build_version(),
                                 .incarnation = incarnation,
                                 .address = settings.advertise.text(),
                                 .slots = settings.ports.slots,
                                 .packet_values = settings.packet_values});
  loop_ = std::make_unique<MachineLoop>(LoopParts{
      .handle = [this](TimeNs now, const Event& event) { return machine_->handle(now, event); },
      .next_wakeup_ns = [this] { return machine_->next_wakeup_ns(); },
      .execute = [this](Action& action) { execute(action); },
      .one_peer = true,
      .link = *link_,
      .clock = parts_.outlets.clock(),
      .notes = parts_.outlets.notes()});
  return {};
}

void CoordinatorSession::shut_down() { loop_->feed(Shutdown{.reason = "stopped by a signal"}); }

void CoordinatorSession::execute(Action& action) {
  std::visit(Overloaded{
                 [this](const InstallSums& order) {
                   if (order.first_of_session) parts_.installer.remove_all();
                   install(order.install);
                 },
                 [this](const Finished& finished) { parts_.finished(finished.status); },
                 [](const auto&) {},  // the loop has performed it, or other machines do
             },
             action);
}

void CoordinatorSession::install(const wire::InstallEpochT& order) {
  if (order.remove) return parts_.installer.remove(order.handle);
  const Result<in_network::SlotJob> job = slot_job_of(order, parts_.settings.packet_values);
  Status status = job.ok() ? parts_.installer.install(*job, order.job) : job.status();
  // Not from within an event of the machine.
  loop_->post(EpochDecided{.job = order.job,
                           .handle = order.handle,
                           .epoch = order.epoch,
                           .status = std::move(status),
                           .epoch_highest = parts_.installer.highest(order.handle)});
}

}  // namespace tributary::switchd
