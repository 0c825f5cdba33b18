// Collects what the journal, the exporters and people are told of a job's rounds: the agents'
// reports, their metrics, the rates of their uplinks, and the bytes that messages took.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/message_bytes.h"
#include "core/round/common/machine/repeated_bytes.h"
#include "core/round/coordinator/attempt/active_round.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class RoundReporter {
 public:
  explicit RoundReporter(const JobContext& job) : job_(job) {}

  // Takes over what messages of this session took since it was last counted.
  void count(AgentSession& session);
  RepeatedBytes& repeats() { return repeats_; }

  // `ratio` is what the agent keeps of its update in the round that is reported on; nothing where
  // that is not the current round. At most kReportsMax reports are kept for a commit.
  void keep(const AgentSession& session, const wire::Report& report, std::optional<double> ratio);
  void read_metrics(const AgentSession& session, const wire::Report& report);
  // Since the last commit; a commit's record takes them.
  std::vector<AgentRoundRecord>& reports() { return reports_; }

  // Of a round that was just committed: how long it took, and how fast uplinks were.
  void tell_commit(const RoundRecord& record, const ActiveRound& round);
  // Of the round and of its commit, which has just been sent. The next round tells of the answers.
  void tell_bytes(std::uint64_t round);

 private:
  static constexpr std::size_t kReportsMax = 4096;

  void tell_uplinks(const RoundRecord& record, const ActiveRound& round);
  void tell(ReadingKind kind, double value, std::uint64_t round, std::string agent_id = {});

  const JobContext& job_;
  std::vector<AgentRoundRecord> reports_;
  // Bytes since the last commit.
  MessageBytes up_;
  MessageBytes down_;
  RepeatedBytes repeats_;
};

// What a member keeps of its update in a round, as far as the plan says so.
double ratio_of(const RoundPlan& plan, std::uint32_t member, CodecCache& codecs);

}  // namespace tributary
