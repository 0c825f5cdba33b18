#include "core/round/coordinator/context/link_reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/round/common/machine/probe_padding.h"
#include "schemas/payload.h"

namespace tributary {
namespace {

// Agents report their links every few seconds; a report after less than this time is ignored.
constexpr TimeNs kLinkReportsEveryNs = 500 * kNsPerMs;

}  // namespace

// Padding is counted apart, because it is no payload: the bytes of probes must not appear as
// traffic of rounds.
void LinkReports::probe(const ProbeLink& event) {
  AgentSession* const session = context_.roster.by_agent(event.agent_id);
  if (!session || session->leaving) return;
  const PayloadSlice padding = probe_padding(event.padding_bytes);
  const PayloadClaim claim = claim_for(padding.bytes);
  const std::uint32_t parts = std::min(event.parts, kProbePartsMax);
  for (std::uint32_t index = 0; index < parts; ++index) {
    wire::LinkProbeT probe;
    probe.kind = wire::ProbeKind::probe;
    probe.probe = event.probe;
    probe.index = index;
    probe.count = parts;
    probe.sent_at_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context_.now, 0));
    probe.echo_payload_bytes = std::min(event.echo_padding_bytes, kProbePaddingMax);
    probe.payload_bytes = claim.bytes;
    probe.payload_checksum = claim.checksum;
    session->conversation.send(context_.now, frame_with(std::move(probe)), context_.out, 0,
                               &padding);
    session->padding_bytes_out += claim.bytes;
  }
}

void LinkReports::receive_echo(AgentSession& session, const wire::LinkProbe& echo,
                               const FrameReceived& event) {
  if (echo.kind() != wire::ProbeKind::echo) {
    return context_.refuse(session, "unsupported",
                           fmt::format("a LinkProbe of kind '{}': expected 'echo'",
                                       wire::EnumNameProbeKind(echo.kind())));
  }
  if (event.payload.size() > kProbePaddingMax || echo.count() > kProbePartsMax) {
    return context_.refuse(
        session, "over_cap",
        fmt::format("an echo: expected at most {} parts and {} bytes, got {} and {}",
                    kProbePartsMax, kProbePaddingMax, echo.count(), event.payload.size()));
  }
  context_.out.emplace_back(ProbeEchoed{.agent_id = session.agent_id,
                                        .probe = echo.probe(),
                                        .index = echo.index(),
                                        .count = echo.count(),
                                        .bytes = event.frame.size() + event.payload.size(),
                                        .received_at_ns = echo.received_at_ns(),
                                        .answered_at_ns = echo.answered_at_ns(),
                                        .at_ns = context_.now,
                                        .waited_for = event.waited_for});
}

void LinkReports::report_speeds(const AgentSession& session, const Offers* offers) {
  SpeedsReported reported{.agent_id = session.agent_id, .codecs = {}};
  for (std::uint32_t i = 0; offers && i < offers->size(); ++i) {
    const wire::CodecOffer& offer = *offers->Get(i);
    // Codecs that were not measured yet have no speed.
    if (offer.encode_bytes_per_s() <= 0 || offer.decode_bytes_per_s() <= 0) continue;
    if (reported.codecs.size() < kSpeedsReportedMax)
      offer.UnPackTo(&reported.codecs.emplace_back());
  }
  if (!reported.codecs.empty()) context_.out.emplace_back(std::move(reported));
}

void LinkReports::receive_telemetry(AgentSession& session, const wire::Telemetry& telemetry) {
  report_speeds(session, telemetry.codecs());
  const auto* const links = telemetry.links();
  if (!links || links->size() == 0) return;
  if (links->size() > kLinksReportedMax) {
    return context_.refuse(session, "over_cap",
                           fmt::format("telemetry: expected at most {} links, got {}",
                                       kLinksReportedMax, links->size()));
  }
  if (context_.now - kLinkReportsEveryNs < session.links_reported_at_ns) {
    return context_.note(LogLevel::info, "links_ignored", "too_often", session.agent_id,
                         "its previous report of links is too recent");
  }
  LinksReported reported{.agent_id = session.agent_id, .links = {}};
  // An agent may only report links that end at itself. Otherwise one agent could make the link
  // between two others look slow.
  for (const wire::LinkSample* link : *links) {
    const std::string from = link->from() ? link->from()->str() : "";
    if (!link->to() || link->to()->string_view() != session.agent_id) {
      return context_.refuse(session, "not_allowed",
                             "a link: expected one to the agent itself, got another");
    }
    // The agent may not know yet that this peer has left.
    if (from == session.agent_id || !context_.roster.by_agent(from)) continue;
    link->UnPackTo(&reported.links.emplace_back());
  }
  // A refused report does not silence the next one.
  session.links_reported_at_ns = context_.now;
  if (!reported.links.empty()) context_.out.emplace_back(std::move(reported));
}

}  // namespace tributary
