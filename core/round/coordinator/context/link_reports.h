// Measurements of links and devices that pass the coordinator: it sends probes, and hands on their
// echoes and what agents report of one another and of themselves. When links are measured, and what
// follows from it, is decided outside.
#pragma once

#include "core/round/coordinator/context/coordinator_context.h"

namespace tributary {

class LinkReports {
 public:
  explicit LinkReports(CoordinatorContext& context) : context_(context) {}

  void probe(const ProbeLink& event);
  void receive_echo(AgentSession& session, const wire::LinkProbe& echo, const FrameReceived& event);
  using Offers = flatbuffers::Vector<flatbuffers::Offset<wire::CodecOffer>>;
  // `offers` may be null.
  void tell_speeds(const AgentSession& session, const Offers* offers);
  // Telemetry that comes too often, or names links of other agents, is refused.
  void receive_telemetry(AgentSession& session, const wire::Telemetry& telemetry);

 private:
  CoordinatorContext& context_;
};

}  // namespace tributary
