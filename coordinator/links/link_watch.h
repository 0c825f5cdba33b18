// Measures the links of agents: from the traffic of rounds, from what agents report, and by probes
// over links that have been idle for a while.
//
// Threads: one at a time, the machine's.
#pragma once

#include <memory>
#include <optional>

#include "coordinator/links/link_figures.h"
#include "coordinator/links/link_probes.h"

namespace tributary {

class LinkWatch {
 public:
  // Without `probes` no link is probed.
  LinkWatch(std::unique_ptr<LinkFigures> figures, std::optional<LinkProbes> probes)
      : figures_(std::move(figures)), probes_(std::move(probes)) {}

  LinkFigures& figures() { return *figures_; }
  // Takes the readings of an agent that are about its link, and ignores all others.
  void take_reading(const Reading& reading);
  void take_echo(double now_s, const ProbeEchoed& echo);
  // The probes to send now.
  std::vector<ProbeLink> probes_due(double now_s, std::span<const Coordinator::AgentView> agents);

 private:
  const std::unique_ptr<LinkFigures> figures_;
  std::optional<LinkProbes> probes_;
};

}  // namespace tributary
