// The members of a job's epoch on the coordinator: who they are, how much each one counts, and who
// takes part in the next attempt.
//
// An epoch begins when the set of agents that can take part has changed. Members keep their index
// for as long as it lasts; one whose process comes back over a new connection keeps it as well.
// The caller stores the epoch's record before it announces the epoch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class Membership {
 public:
  struct Member {
    std::string agent_id;
    std::uint64_t session = 0;     // the last one
    std::uint32_t generation = 0;  // of the session, when the epoch began
    double weight = 1;
    Bytes public_key;
    std::string endpoint;
  };

  Membership(const JobContext& job, std::uint32_t last_epoch)
      : job_(job), roster_(job.coordinator.roster), last_epoch_(last_epoch) {}

  // --- the epoch ---
  // Epoch numbers up to this one have been given.
  void saw_epoch(std::uint32_t number);
  // Null: no epoch has begun.
  const std::shared_ptr<const EpochRecord>& epoch() const { return epoch_; }
  std::uint32_t epoch_number() const { return epoch_ ? epoch_->epoch : 0; }
  const std::vector<Member>& members() const { return members_; }
  std::size_t size() const { return members_.size(); }
  std::vector<double> weights() const;
  // A new epoch is due: an agent is ready that is not a member or has begun anew, a member is gone,
  // or a weight has changed. A member that is only behind stays one.
  bool changed(std::uint64_t model_version) const;
  void open(std::uint64_t first_round);
  // `peer_session` is that of the members' connections among themselves; 0: there are none.
  void announce(std::uint64_t peer_session);
  void announce_to(AgentSession& session, std::uint32_t member, std::uint64_t peer_session);

  // --- sessions ---
  std::optional<std::uint32_t> member_of(const AgentSession& session) const;
  AgentSession* session_of(std::uint32_t member) const;
  // The session continues the one with number `before`. Returns the member that it is then.
  std::optional<std::uint32_t> resume(AgentSession& session, std::uint64_t before);

  // --- who takes part ---
  // How many agents have the job and the model of this version.
  std::ptrdiff_t ready_agents(std::uint64_t model_version) const;
  // At least one agent of the job is not ready.
  bool some_catch_up(std::uint64_t model_version) const;
  // Draws the participants of a round: the same ones whenever the round is tried, as far as they
  // are ready and not excluded.
  Bitmap participants(std::uint64_t round) const;
  // These members sit out the next attempt.
  void exclude(Bitmap members) { excluded_ = std::move(members); }
  // Updates are weighted by the examples behind them, in proportion to the agent with most.
  void count_examples(const std::string& agent_id, std::uint64_t examples);

 private:
  double weight_of(const std::string& agent_id, std::uint64_t most) const;
  std::uint64_t most_examples() const;
  Bitmap drawn_from(const Bitmap& candidates, std::uint64_t round) const;

  const JobContext& job_;
  Roster& roster_;
  std::uint32_t last_epoch_;
  std::vector<Member> members_;
  std::map<std::string, std::uint32_t> by_agent_;
  std::shared_ptr<const EpochRecord> epoch_;
  Bitmap excluded_;
  std::map<std::string, std::uint64_t> examples_;  // by agent, as last reported
};

}  // namespace tributary
