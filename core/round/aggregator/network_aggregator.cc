#include "core/round/aggregator/network_aggregator.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/overloaded.h"

namespace tributary {
namespace {

AgentConfig config_of(const NetworkAggregator::Options& options) {
  AgentConfig config;
  config.agent_id = options.id;
  config.build = options.build;
  config.incarnation = options.incarnation;
  config.endpoints = {options.address};
  config.role = wire::Role::aggregator;
  config.slots = options.slots;
  config.packet_values = options.packet_values;
  return config;
}

}  // namespace

NetworkAggregator::NetworkAggregator(const Options& options) : context_(config_of(options)) {}

Actions NetworkAggregator::handle(TimeNs now, const Event& event) {
  context_.now = std::max(context_.now, now);
  if (connection_.finished()) return {};
  pass(event);
  if (connection_.hello_due()) {
    connection_.send_hello(nullptr, nullptr);
  } else {
    // A lost session needs nothing here: the coordinator installs new epochs in the next one.
    static_cast<void>(connection_.maintain_session(wire::Activity::waiting, {}));
  }
  if (connection_.shutting_down() && session_.idle()) connection_.finish(Status());
  return context_.out.take();
}

void NetworkAggregator::pass(const Event& event) {
  std::visit(Overloaded{
                 [this](const FrameReceived& frame) { receive(frame); },
                 [this](const PeerConnected&) { connection_.connected(); },
                 [this](const PeerDisconnected&) { static_cast<void>(connection_.disconnected()); },
                 [this](const PeerAlive&) { session_.bytes_arrived(); },
                 [](const Tick&) {},
                 [this](const EpochDecided& decided) { answer(decided); },
                 [this](const Shutdown& shutdown) { connection_.shut_down(shutdown.reason); },
                 [this, &event](const auto&) {
                   context_.out.note(LogLevel::warning, "event_ignored", name_of(event),
                                     "not an event of an aggregator");
                 },
             },
             event);
}

void NetworkAggregator::receive(const FrameReceived& event) {
  Bytes aligned;
  const AgentConnection::Received received = connection_.receive(event, aligned);
  if (received.change == AgentConnection::Change::session_opened) first_of_session_ = true;
  if (!received.frame || received.change != AgentConnection::Change::none) return;
  const wire::Frame& frame = *received.frame;
  switch (frame.message_type()) {
    case wire::Message::InstallEpoch: {
      session_.answer(frame.message_id());
      InstallSums install{.install = {},
                          .first_of_session = std::exchange(first_of_session_, false)};
      frame.message_as_InstallEpoch()->UnPackTo(&install.install);
      return context_.out.add(std::move(install));
    }
    case wire::Message::Leave:
      session_.answer(frame.message_id());
      static_cast<void>(
          connection_.hang_up("coordinator_left", context_.config.hello_timeout_ms * kNsPerMs));
      return;
    default:
      context_.out.refuse_frame("not_allowed", wire::EnumNameMessage(frame.message_type()));
  }
}

void NetworkAggregator::answer(const EpochDecided& decided) {
  if (!decided.status.ok()) {
    context_.out.note(LogLevel::warning, "epoch_refused", name(decided.status.code()),
                      decided.status.text());
  }
  session_.ask([decided] {
    wire::EpochInstalledT answer;
    answer.job = decided.job;
    answer.handle = decided.handle;
    answer.epoch = decided.epoch;
    answer.installed = decided.status.ok();
    answer.epoch_highest = decided.epoch_highest;
    if (!decided.status.ok()) answer.text = decided.status.text().substr(0, wire::kTextBytesMax);
    return frame_with(std::move(answer));
  });
}

TimeNs NetworkAggregator::next_wakeup_ns() const {
  return connection_.finished() ? kNever : connection_.next_due_ns();
}

}  // namespace tributary
