#include "core/round/agent/agent_telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/link_quality/link_prober.h"
#include "core/round/common/machine/probe_padding.h"
#include "schemas/payload.h"

namespace tributary {

void AgentTelemetry::echo(const wire::LinkProbe& probe, bool waited_for) {
  ActionList& out = context_.out;
  const TimeNs now = context_.now;
  if (probe.kind() != wire::ProbeKind::probe) {
    return out.refuse_frame("unsupported", fmt::format("a LinkProbe of kind '{}': expected 'probe'",
                                                       wire::EnumNameProbeKind(probe.kind())));
  }
  if (probe.echo_payload_bytes() > kProbePaddingMax || probe.count() > kProbePartsMax) {
    return out.refuse_frame(
        "over_cap",
        fmt::format("a probe: expected at most {} parts and {} bytes for each echo, "
                    "got {} and {}",
                    kProbePartsMax, kProbePaddingMax, probe.count(), probe.echo_payload_bytes()));
  }
  // Echoes take bytes of the agent's uplink. The allowance bounds them, whatever the coordinator
  // requests.
  if (!echoes_.take(static_cast<double>(now) / 1e9,
                    probe.echo_payload_bytes() + LinkProber::kMessageBytes)) {
    return out.note(LogLevel::info, "probe_not_echoed", "allowance",
                    "the coordinator has asked for more than an agent echoes in a minute");
  }
  const PayloadSlice padding = probe_padding(probe.echo_payload_bytes());
  const PayloadClaim claim = claim_for(padding.bytes);
  wire::LinkProbeT echo;
  echo.kind = wire::ProbeKind::echo;
  echo.probe = probe.probe();
  echo.index = probe.index();
  echo.count = probe.count();
  echo.sent_at_ns = probe.sent_at_ns();
  // 0 means "unknown" in the message, so a clock that stands at 0 is reported as 1 ns. If the probe
  // waited in a queue of the host before it was handled, its time of arrival is unknown as well.
  const auto at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now, 1));
  echo.received_at_ns = waited_for ? at_ns : 0;
  echo.answered_at_ns = at_ns;
  echo.payload_bytes = claim.bytes;
  echo.payload_checksum = claim.checksum;
  session_.send(frame_with(std::move(echo)), padding);
}

void AgentTelemetry::send_links(const ReportLinks& event) {
  if (!session_.is_open() || event.links.empty()) return;
  wire::TelemetryT telemetry;
  telemetry.at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context_.now, 0));
  for (const wire::LinkSampleT& link : event.links) {
    if (telemetry.links.size() >= kLinksReportedMax) {
      ++telemetry.dropped;
      continue;
    }
    telemetry.links.push_back(std::make_unique<wire::LinkSampleT>(link));
    // The host does not need to know the agent's id.
    telemetry.links.back()->to = context_.config.agent_id;
    telemetry.links.back()->at_ns = telemetry.at_ns;
  }
  session_.send(frame_with(std::move(telemetry)));
}

void AgentTelemetry::take_speeds(const ReportSpeeds& event) {
  for (const std::unique_ptr<wire::CodecOfferT>& offer : capabilities_.codecs) {
    const auto measured = std::ranges::find(event.codecs, offer->spec, &wire::CodecOfferT::spec);
    if (measured != event.codecs.end()) *offer = *measured;
  }
  speeds_unsent_ = true;
  if (session_.is_open()) send_speeds();
}

void AgentTelemetry::send_speeds() {
  if (!std::exchange(speeds_unsent_, false)) return;
  wire::TelemetryT telemetry;
  telemetry.at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context_.now, 0));
  for (const std::unique_ptr<wire::CodecOfferT>& offer : capabilities_.codecs) {
    if (offer->encode_bytes_per_s <= 0) continue;
    telemetry.codecs.push_back(std::make_unique<wire::CodecOfferT>(*offer));
  }
  if (!telemetry.codecs.empty()) session_.send(frame_with(std::move(telemetry)));
}

std::unique_ptr<wire::CapabilitiesT> AgentTelemetry::capabilities_to_send() {
  speeds_unsent_ = false;
  auto capabilities = std::make_unique<wire::CapabilitiesT>(capabilities_);
  capabilities->features.emplace_back(wire::kStandaloneFeature);
  capabilities->features.emplace_back(wire::kSegmentsFeature);
  if (std::ranges::find(capabilities->collectives, wire::Collective::in_network) !=
      capabilities->collectives.end()) {
    capabilities->features.emplace_back(wire::kPacketValuesFeature);
  }
  return capabilities;
}

}  // namespace tributary
