// A coordinator and its agents as processes of this machine. Their keys, settings, data and
// journals are in one folder. Everything is real except the links, which are shaped.
//
// The object owns the processes and ends them with itself; the kernel ends them too if this program
// dies. The folder belongs to the user: it is only removed by remove_folder(). One thread at a
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/process/child_process.h"
#include "core/base/status.h"
#include "core/net/keys/keys.h"
#include "core/net/shaped/trace.h"
#include "schemas/frame_generated.h"

namespace tributary {

// Whether codec, ratio and collective are fixed by this plan or chosen by the coordinator's
// planner.
enum class DemoPlanning : std::uint8_t { fixed, adaptive };

// The user's request. Values that were not given have defaults that depend on the planning.
struct DemoPlan {
  std::string folder = "tributary-demo";
  std::uint32_t agents = 4;
  std::optional<std::uint64_t> rounds_requested;
  std::optional<std::string> codec_requested;
  std::optional<wire::Collective> collective_requested;
  std::optional<DemoPlanning> planning_requested;
  std::string model = "lenet";
  double skew = 0;                 // alpha of the Dirichlet distribution; 0: i.i.d.
  std::optional<LinkTrace> trace;  // of the agents' links; empty: a built-in trace
  std::uint64_t pictures = 20'000;
  std::uint64_t seed = 1;
  std::vector<std::string> settings;  // KEY=VALUE for the coordinator; they override all others

  // A codec or collective that the user names is used: planning is then fixed.
  DemoPlanning planning() const {
    const bool named = codec_requested || collective_requested;
    return planning_requested.value_or(named ? DemoPlanning::fixed : DemoPlanning::adaptive);
  }
  bool adaptive() const { return planning() == DemoPlanning::adaptive; }
  std::uint64_t rounds() const { return rounds_requested.value_or(adaptive() ? 200 : 60); }
  // With a planner these are the choices of the first rounds. An empty codec is none: the job then
  // begins with the planner's first codec.
  std::string codec() const { return codec_requested.value_or(adaptive() ? "" : "thc:bits=4"); }
  wire::Collective collective() const {
    return collective_requested.value_or(wire::Collective::star);
  }
  // Whether an aggregator adds the updates beside the coordinator.
  bool in_network() const { return collective() == wire::Collective::in_network; }
  // Whether agents need endpoints for peers. A planner may choose a peer collective at any time.
  bool peers() const {
    return adaptive() || (collective() != wire::Collective::star && !in_network());
  }
};

// Name of the demonstration's only job.
inline constexpr std::string_view kDemoJob = "digits";

class DemoFederation {
 public:
  // Creates the folder, or empties one of an earlier demonstration, and writes all files.
  // `progress` returns false to stop. Fails with already_exists if the folder is not from a
  // demonstration.
  using Progress = std::function<bool(std::string_view doing, std::uint64_t, std::uint64_t)>;
  static Result<std::unique_ptr<DemoFederation>> prepare(const DemoPlan& plan,
                                                         const Progress& progress);
  // Ends the remaining processes. The folder is kept.
  ~DemoFederation() = default;
  DemoFederation(const DemoFederation&) = delete;
  DemoFederation& operator=(const DemoFederation&) = delete;

  // Starts all processes. Returns when the coordinator listens and the agents have started.
  Status start();
  // Whether all processes have ended successfully. Fails if any has not, or if some end long before
  // the others.
  Result<bool> ended();
  // Ends all processes first, because they write into the folder.
  void remove_folder();

  std::string run_file() const { return path("run.db"); }
  std::string report_folder() const { return path("report"); }
  std::string agent_file(std::uint32_t agent) const;
  std::string agent_log(std::uint32_t agent) const { return agents_[agent]->log_text(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  const DemoPlan& plan() const { return plan_; }

 private:
  explicit DemoFederation(const DemoPlan& plan) : plan_(plan), folder_(plan.folder) {}
  Status make_folder();
  Status draw_digits(const Progress& progress);
  Status write_keys();
  Status write_coordinator_settings() const;
  Status write_agent_settings(std::uint32_t agent) const;
  Status write_traces(std::uint32_t agent) const;
  Status start_coordinator();
  Status start_aggregator();

  const DemoPlan plan_;
  const std::filesystem::path folder_;
  std::string coordinator_key_;
  std::string endpoint_;  // of the coordinator
  std::unique_ptr<ChildProcess> coordinator_;
  std::unique_ptr<ChildProcess> aggregator_;  // null: the plan has none
  std::vector<std::unique_ptr<ChildProcess>> agents_;
  std::optional<std::chrono::steady_clock::time_point> first_ended_at_;
};

}  // namespace tributary
