#include "edge_agent/links/peer_service.h"

#include <algorithm>
#include <utility>

namespace tributary {

void PeerService::open(OpenPeers& epoch) {
  log_.info(
      "agent", "peers opened",
      {{"session", epoch.session}, {"member", epoch.member}, {"members", epoch.members.size()}});
  link_->open(std::move(epoch));
}

void PeerService::export_metrics(NoteLog& notes) {
  const PeerLinkCounters counters = link_->counters();
  metrics_.set("tributary_peers_in_bytes_total", static_cast<double>(counters.bytes_in));
  metrics_.set("tributary_peers_out_bytes_total", static_cast<double>(counters.bytes_out));
  for (const Refused& refused : link_->take_refused()) {
    notes.note({.level = LogLevel::warning,
                .name = "peer_refused",
                .reason = name(refused.why.code()),
                // Without the port, so that repeated refusals of one host are counted together.
                .source = refused.source.substr(0, refused.source.rfind(':')),
                .text = refused.why.text()});
  }
}

ReportLinks PeerService::links_to_report(TimeNs now) {
  ReportLinks report;
  // Each peer gives up to two samples.
  for (const PeerMeasured& peer : link_->take_measured(kLinksReportedMax / 2)) {
    if (!reported_links_.due(now, peer)) continue;
    const auto add = [&](const LinkQuantity& quantity, double wire::LinkSampleT::*figure) {
      if (!quantity.known()) return;
      wire::LinkSampleT& sample = report.links.emplace_back();
      sample.from = peer.agent_id;
      sample.method = wire::LinkMethod::passive;
      sample.*figure = quantity.value;
      sample.confidence = static_cast<float>(quantity.confidence);
      sample.age_ms = static_cast<std::uint32_t>(std::min(quantity.age_s * 1e3, 4e9));
    };
    add(peer.link.alpha_s, &wire::LinkSampleT::alpha_s);
    add(peer.link.beta_s_per_byte, &wire::LinkSampleT::beta_s_per_byte);
  }
  if (!report.links.empty()) {
    metrics_.set("tributary_peer_link_figures_told", static_cast<double>(report.links.size()));
  }
  return report;
}

}  // namespace tributary
