// What an agent does for links and its device to be known: it echoes probes, and tells of the ways
// from its peers and of how quick it is at codecs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/cost/link_prober.h"
#include "core/round/agent_impl.h"
#include "core/round/probe_padding.h"
#include "schemas/payload.h"

namespace tributary {

// At once and within the same call, whatever else is being done: training has a thread of its own.
void Agent::Impl::receive_probe(const wire::LinkProbe& probe, bool waited_for) {
  if (probe.kind() != wire::ProbeKind::probe) {
    return refuse_frame("unsupported", fmt::format("a LinkProbe of kind '{}': expected 'probe'",
                                                   wire::EnumNameProbeKind(probe.kind())));
  }
  if (probe.echo_payload_bytes() > kProbePaddingMax || probe.count() > kProbePartsMax) {
    return refuse_frame(
        "over_cap",
        fmt::format("a probe: expected at most {} parts and {} bytes for each echo, "
                    "got {} and {}",
                    kProbePartsMax, kProbePaddingMax, probe.count(), probe.echo_payload_bytes()));
  }
  if (!echoes_.take(static_cast<double>(now_) / 1e9,
                    probe.echo_payload_bytes() + LinkProber::kMessageBytes)) {
    return note(LogLevel::info, "probe_not_echoed", "allowance",
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
  const auto at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now_, 1));
  echo.received_at_ns = waited_for ? at_ns : 0;
  echo.answered_at_ns = at_ns;
  echo.payload_bytes = claim.bytes;
  echo.payload_checksum = claim.checksum;
  talk_->send(now_, frame_with(std::move(echo)), padding, out_);
}

void Agent::Impl::on(const TellLinks& event) {
  if (line_ != Line::online || event.links.empty()) return;
  wire::TelemetryT telemetry;
  telemetry.at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now_, 0));
  for (const wire::LinkSampleT& link : event.links) {
    if (telemetry.links.size() >= kLinksToldMax) {
      ++telemetry.dropped;
      continue;
    }
    telemetry.links.push_back(std::make_unique<wire::LinkSampleT>(link));
    telemetry.links.back()->to = config_.agent_id;
    telemetry.links.back()->at_ns = telemetry.at_ns;
  }
  talk_->send(now_, frame_with(std::move(telemetry)), out_);
}

void Agent::Impl::on(const TellSpeeds& event) {
  for (const std::unique_ptr<wire::CodecOfferT>& offer : config_.capabilities.codecs) {
    const auto said = std::ranges::find(event.codecs, offer->spec, &wire::CodecOfferT::spec);
    if (said != event.codecs.end()) *offer = *said;
  }
  speeds_to_tell_ = true;
  if (line_ == Line::online) tell_speeds();
}

// Where the Hello of this session did not say them.
void Agent::Impl::tell_speeds() {
  if (!std::exchange(speeds_to_tell_, false)) return;
  wire::TelemetryT telemetry;
  telemetry.at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(now_, 0));
  for (const std::unique_ptr<wire::CodecOfferT>& offer : config_.capabilities.codecs) {
    if (offer->encode_bytes_per_s <= 0) continue;
    telemetry.codecs.push_back(std::make_unique<wire::CodecOfferT>(*offer));
  }
  if (!telemetry.codecs.empty()) talk_->send(now_, frame_with(std::move(telemetry)), out_);
}

}  // namespace tributary
