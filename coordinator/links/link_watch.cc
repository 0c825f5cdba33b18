#include "coordinator/links/link_watch.h"

#include <string>
#include <variant>

namespace tributary {

void LinkWatch::take_reading(const Reading& reading) {
  switch (reading.kind) {
    case ReadingKind::uplink_s_per_byte:
      return figures_->uplink(reading.agent_id, reading.value);
    case ReadingKind::uplink_s_per_byte_of_few:
      return figures_->uplink_of_few(reading.agent_id, reading.value);
    case ReadingKind::uplink_s_per_byte_at_most:
      return figures_->uplink_at_most(reading.agent_id, reading.value);
    case ReadingKind::downlink_s_per_byte:
      return figures_->downlink(reading.agent_id, reading.value);
    case ReadingKind::downlink_s_per_byte_of_few:
      return figures_->downlink_of_few(reading.agent_id, reading.value);
    case ReadingKind::downlink_s_per_byte_at_most:
      return figures_->downlink_at_most(reading.agent_id, reading.value);
    case ReadingKind::round_trip_s:
      return figures_->round_trip(reading.agent_id, reading.value);
    default:
      return;
  }
}

void LinkWatch::take_echo(double now_s, const ProbeEchoed& echo) {
  if (!probes_) return figures_->echo_ignored(EchoFault::unasked);
  const LinkProbes::Outcome outcome = probes_->take(now_s, echo);
  if (const auto* reading = std::get_if<LinkProbes::Reading>(&outcome)) {
    figures_->probed(echo.agent_id, *reading);
  } else if (const auto* fault = std::get_if<EchoFault>(&outcome)) {
    figures_->echo_ignored(*fault);
  }
}

std::vector<ProbeLink> LinkWatch::probes_due(double now_s,
                                             std::span<const Coordinator::AgentView> agents) {
  if (!probes_) return {};
  std::vector<ProbeLink> due = probes_->due(now_s, agents, [this](const std::string& agent_id) {
    return figures_->measured_links(agent_id);
  });
  figures_->probes_sent(due, probes_->given_up());
  return due;
}

}  // namespace tributary
