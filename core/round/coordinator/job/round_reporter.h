// Collects the telemetry of a job's rounds for the journal and the exporters: reports and metrics
// of agents, rates of links, and bytes of messages. `job` must outlive the object. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class RoundReporter {
 public:
  explicit RoundReporter(const JobContext& job) : job_(job) {}

  // Takes the byte counts of this session since the previous call.
  void count(AgentSession& session);
  RepeatedBytes& repeats() { return repeats_; }

  // Keeps a report for the next commit, at most kReportsMax of them. `ratio` is the share of its
  // update that the agent keeps in the reported round; empty if that is not the current round.
  void keep(const AgentSession& session, const wire::Report& report, std::optional<double> ratio);
  // Publishes the metrics in a report.
  void read_metrics(const AgentSession& session, const wire::Report& report);
  // The reports since the last commit. The next commit's record takes them.
  std::vector<AgentRoundRecord>& reports() { return reports_; }
  // The number of trial results in the reports since the previous call.
  std::uint32_t take_trials() { return std::exchange(trials_, 0); }

  // Publishes the duration of a committed round and the rates of the members' links.
  void report_commit(const RoundRecord& record, const ActiveRound& round);
  // The downlinks that large payloads before the last commit have measured, in seconds per byte by
  // agent.
  const std::map<std::string, double>& downlinks() const { return downlinks_; }
  // Publishes the bytes of the round and of its commit, which was just sent. Answers to the commit
  // count for the next round.
  void report_bytes(std::uint64_t round);

 private:
  // Bounds the record of a commit.
  static constexpr std::size_t kReportsMax = 4096;

  void report_uplinks(const RoundRecord& record, const ActiveRound& round);
  void report_downlinks(const RoundRecord& record, const ActiveRound& round);
  void add_reading(ReadingKind kind, double value, std::uint64_t round, std::string agent_id = {});

  const JobContext& job_;
  std::vector<AgentRoundRecord> reports_;
  std::uint32_t trials_ = 0;
  // Bytes since the last commit.
  MessageBytes up_;
  MessageBytes down_;
  RepeatedBytes repeats_;
  std::map<std::string, double> downlinks_;
};

// The share of its update that a member keeps in a round, as far as the plan determines it.
double ratio_of(const RoundPlan& plan, std::uint32_t member, CodecCache& codecs);

}  // namespace tributary
