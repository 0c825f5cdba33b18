// What an agent does among its peers besides exchanging: the port that they reach it by, its
// figures and refusals, and what the exchanges have shown of the ways from others.
#pragma once

#include <memory>
#include <string>

#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/service/peer_link.h"
#include "edge_agent/told_links.h"

namespace tributary {

class PeerService {
 public:
  // Both outlive it.
  PeerService(std::unique_ptr<PeerLink> link, Log& log, Metrics& metrics)
      : link_(std::move(link)), log_(log), metrics_(metrics) {}

  std::string endpoint() const { return link_->endpoint(); }
  void send(SendToPeer& message) { link_->send(std::move(message)); }
  void open(OpenPeers& epoch);
  void close() { link_->close(); }

  void export_metrics(NoteLog& notes);
  // What is worth telling of the ways from peers: two samples for each, since its latency and its
  // rate are known from other readings.
  TellLinks links_to_tell(TimeNs now);

 private:
  const std::unique_ptr<PeerLink> link_;
  Log& log_;
  Metrics& metrics_;
  ToldLinks told_;
};

}  // namespace tributary
