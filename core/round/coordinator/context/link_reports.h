// Forwards measurements of links and devices: sends probes, and reports to the host their echoes
// and the measurements that agents send. The host decides when to measure a link and how to use the
// results. `context` must outlive it. Not thread-safe.
#pragma once

#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

class LinkReports {
 public:
  explicit LinkReports(CoordinatorContext& context) : context_(context) {}

  // Sends a train of probes to an agent; does nothing if the agent is offline.
  void probe(const ProbeLink& event);
  // Reports an echo to the host. Refuses one that is larger than a probe may be.
  void receive_echo(AgentSession& session, const wire::LinkProbe& echo, const FrameReceived& event);
  using Offers = flatbuffers::Vector<flatbuffers::Offset<wire::CodecOffer>>;
  // Reports the speeds of an agent's device. `offers` may be null.
  void report_speeds(const AgentSession& session, const Offers* offers);
  // Reports an agent's measurements. Ignores telemetry that arrives too often; refuses links that
  // do not end at the agent itself.
  void receive_telemetry(AgentSession& session, const wire::Telemetry& telemetry);

 private:
  CoordinatorContext& context_;
};

}  // namespace tributary
