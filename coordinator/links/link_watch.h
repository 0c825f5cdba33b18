// Measures the links of agents from the traffic of rounds, from agents' reports, and with probes of
// idle links.
//
// Threads: all methods belong to the thread of the state machine.
#pragma once

#include <memory>
#include <optional>

#include "coordinator/links/link_figures.h"
#include "coordinator/links/link_probes.h"

namespace tributary {

class LinkWatch {
 public:
  // Without `probes`, no link is probed.
  LinkWatch(std::unique_ptr<LinkFigures> figures, std::optional<LinkProbes> probes)
      : figures_(std::move(figures)), probes_(std::move(probes)) {}

  LinkFigures& figures() { return *figures_; }
  // Uses the readings that describe an agent's link and ignores all others.
  void take_reading(const Reading& reading);
  // Evaluates the echo of a probe.
  void take_echo(double now_s, const ProbeEchoed& echo);
  // Returns the probes to send now.
  std::vector<ProbeLink> probes_due(double now_s, std::span<const Coordinator::AgentView> agents);

 private:
  const std::unique_ptr<LinkFigures> figures_;
  std::optional<LinkProbes> probes_;
};

}  // namespace tributary
