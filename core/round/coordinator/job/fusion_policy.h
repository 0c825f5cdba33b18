// Chooses the groups of layers of a job with fusion = "optimal".
//
// The first rounds are profiled: they alternate between one group for all layers and one group for
// each, and the agents report when each layer of the update was final. From both kinds of rounds
// follow the costs of a group and of a byte; what groups that are sent early cost the training
// beside them is a part of it. Then the groups are those of the fusion solver
// (CoordinatorConfig::plan_fusion), for the slowest agent of each layer and the slowest links. A
// new participant is profiled in the same way.
//
// A profile is no part of the job's record: a coordinator that starts again profiles again. The
// choice follows only from reports and commits, so the same events give the same groups. `job` must
// outlive the object. Not thread-safe. Memory: kAgentsMax times a number for each layer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/fusion/fusion.h"
#include "core/round/common/plan/plan_builder.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/membership.h"

namespace tributary {

class FusionPolicy {
 public:
  // Rounds in which an agent is profiled, at least and at most.
  static constexpr std::uint32_t kRoundsMin = 4;
  static constexpr std::uint32_t kRoundsMax = 8;
  // Agents with a profile; the others follow the groups of these.
  static constexpr std::size_t kAgentsMax = 64;

  explicit FusionPolicy(const JobContext& job) : job_(job) {}

  // Adds the groups, their reason and the wish for a profile to the request for a plan.
  void complete(PlanRequest& request, const Membership& membership);
  // Takes an agent's report. Reports of rounds that were not profiled are ignored.
  void report(const std::string& agent_id, const wire::Report& report);
  // Takes the rates of uplinks from a round that is committed.
  void report_commit(const ActiveRound& round, const Membership& membership);

  // Takes the rate of a downlink, measured on large payloads.
  void saw_downlink(const std::string& agent_id, double s_per_byte);

 private:
  enum Layout : std::uint8_t { whole, layerwise };
  // The least seconds of a stage in rounds of each layout.
  using LeastSeconds = std::optional<double>[2];

  struct AgentProfile {
    std::uint32_t rounds = 0;  // in which it was asked
    // By layer of the job, of the fastest training in a round of one group.
    std::vector<double> ready_s = {};
    LeastSeconds training_s = {};
    LeastSeconds encode_s = {};
    LeastSeconds decode_s = {};
    std::optional<double> payload_bytes[2] = {};
    std::optional<double> result_bytes[2] = {};
    std::optional<double> uplink_s_per_byte = {};
    std::optional<double> downlink_s_per_byte = {};  // by the star

    bool complete() const {
      return !ready_s.empty() && encode_s[whole] && encode_s[layerwise] && decode_s[whole] &&
             decode_s[layerwise] && payload_bytes[whole] && payload_bytes[layerwise] &&
             result_bytes[whole] && result_bytes[layerwise];
    }
    bool unfinished() const { return rounds < kRoundsMin || (!complete() && rounds < kRoundsMax); }
  };

  bool optimal() const;
  std::optional<Layout> layout_of(std::uint64_t round) const;
  void profile_round(PlanRequest& request, const std::vector<std::string>& agents);
  void solve(const std::vector<std::string>& agents);
  FusionProfile profile_of(const std::vector<std::string>& agents) const;
  std::vector<double> backward_s(const std::vector<std::string>& agents) const;

  const JobContext& job_;
  std::map<std::string, AgentProfile> agents_;
  std::map<std::uint64_t, Layout> profiled_;  // the last rounds that were profiled
  // The time of an exchange among peers, at the agent that waited least for the others.
  LeastSeconds exchange_s_ = {};
  std::uint32_t profiled_rounds_ = 0;
  // The choice in force, and the agents that it was made for.
  std::vector<std::uint32_t> groups_;
  std::vector<std::string> solved_for_;
  std::string reason_;
};

}  // namespace tributary
