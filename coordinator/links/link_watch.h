// What is known of agents' links: figures from rounds, agents' own samples and probes, which are
// sent over links that nobody has used for a while.
#pragma once

#include <memory>
#include <optional>

#include "coordinator/links/link_figures.h"
#include "coordinator/links/link_probes.h"

namespace tributary {

class LinkWatch {
 public:
  // No probes: links are not probed.
  LinkWatch(std::unique_ptr<LinkFigures> figures, std::optional<LinkProbes> probes)
      : figures_(std::move(figures)), probes_(std::move(probes)) {}

  LinkFigures& figures() { return *figures_; }
  // A reading about an agent; one that says nothing of its line is left alone.
  void take_reading(const Reading& reading);
  void take_echo(double now_s, const ProbeEchoed& echo);
  // What is to be probed now.
  std::vector<ProbeLink> probes_due(double now_s, std::span<const Coordinator::AgentView> agents);

 private:
  const std::unique_ptr<LinkFigures> figures_;
  std::optional<LinkProbes> probes_;
};

}  // namespace tributary
