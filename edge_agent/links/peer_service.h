// Operates an agent's link to its peers: opens and closes it per epoch, exports its counters and
// refusals, and selects the measurements of incoming links to report.
//
// Threads: all methods belong to the thread of the state machine.
#pragma once

#include <memory>
#include <string>

#include "core/base/log/log.h"
#include "core/round/common/machine/actions.h"
#include "core/round/common/machine/events.h"
#include "core/service/metrics/metrics.h"
#include "core/service/metrics/note_log.h"
#include "core/service/peer_link.h"
#include "edge_agent/links/reported_links.h"

namespace tributary {

class PeerService {
 public:
  // `log` and `metrics` must outlive the object.
  PeerService(std::unique_ptr<PeerLink> link, Log& log, Metrics& metrics)
      : link_(std::move(link)), log_(log), metrics_(metrics) {}

  std::string endpoint() const { return link_->endpoint(); }
  void send(SendToPeer& message) { link_->send(std::move(message)); }
  void open(OpenPeers& epoch);
  void close() { link_->close(); }

  // Sets the metrics of the link, and logs its events.
  void export_metrics(NoteLog& notes);
  // Returns the measurements of links from peers that are due. Latency and rate are two samples,
  // because they come from different readings.
  ReportLinks links_to_report(TimeNs now);

 private:
  const std::unique_ptr<PeerLink> link_;
  Log& log_;
  Metrics& metrics_;
  ReportedLinks reported_links_;
};

}  // namespace tributary
