// The members of a job's epoch on the coordinator: their identity, their weight, and their
// participation in the next attempt.
//
// A new epoch begins when the set of agents that can participate has changed. Members keep their
// index during an epoch. A member whose process returns over a new connection keeps it as well. The
// caller stores the epoch's record before it announces the epoch. `job` must outlive the object.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/round/coordinator/context/job_context.h"
#include "core/round/coordinator/context/stragglers.h"

namespace tributary {

class Membership {
 public:
  struct Member {
    std::string agent_id;
    std::uint64_t session = 0;     // the last one
    std::uint32_t generation = 0;  // of the session, at the start of the epoch
    double weight = 1;
    Bytes public_key;
    std::string endpoint;
    bool decodes_standalone = false;  // as in its session
    bool divides_results = false;     // the same
    bool sums_in_network = false;     // the same
    bool sizes_packets = false;       // the same
  };

  Membership(const JobContext& job, std::uint32_t last_epoch)
      : job_(job), roster_(job.coordinator.roster), last_epoch_(last_epoch) {}

  // --- the epoch ---
  // Records that epoch numbers up to this one are in use.
  void saw_epoch(std::uint32_t number);
  // Null if no epoch has begun.
  const std::shared_ptr<const EpochRecord>& epoch() const { return epoch_; }
  std::uint32_t epoch_number() const { return epoch_ ? epoch_->epoch : 0; }
  const std::vector<Member>& members() const { return members_; }
  std::size_t size() const { return members_.size(); }
  std::vector<double> weights() const;
  // True if a new epoch is due: a ready agent is no member or has received a new model, a member
  // has no session any more, or a weight has changed. A member that is only behind stays a member.
  bool changed(std::uint64_t model_version) const;
  // Begins an epoch with all agents that have the job and a known model, ordered by agent id.
  void open(std::uint64_t first_round);
  // Sends the epoch to all members. `peer_session` identifies the connections among the members; 0:
  // they have none.
  void announce(std::uint64_t peer_session);
  void announce_to(AgentSession& session, std::uint32_t member, std::uint64_t peer_session);

  // --- sessions ---
  // The index of the session's agent, if this is the member's current session.
  std::optional<std::uint32_t> member_of(const AgentSession& session) const;
  // The current session of a member; null if it has none.
  AgentSession* session_of(std::uint32_t member) const;
  // Makes the session the member's current one if it continues session `before` of that member.
  // Returns the member's index, or empty.
  std::optional<std::uint32_t> resume(AgentSession& session, std::uint64_t before);

  // --- participation ---
  // Number of agents that have the job and the model of this version.
  std::ptrdiff_t ready_agents(std::uint64_t model_version) const;
  // True if at least one agent of the job is not ready. A late agent counts only if a round has to
  // be patient for its sake. `uploads`: whether an agent is sending a payload for a later round.
  using Uploads = std::function<bool(const std::string& agent_id)>;
  bool some_catch_up(std::uint64_t model_version, const Uploads& uploads) const;
  // Draws the participants of a round. Every attempt draws the same members as far as they are
  // ready, not excluded and not in `left_out`, because a draw depends only on the job's seed and
  // the round.
  Bitmap participants(std::uint64_t round, const Bitmap& left_out = {}) const;
  // The members that are ready for the round.
  Bitmap ready_members(std::uint64_t round) const;
  // The agents that no stage waits for. They are kept from epoch to epoch.
  Stragglers& stragglers() { return stragglers_; }
  const Stragglers& stragglers() const { return stragglers_; }
  // True if the builds of all members decode results that contain standalone payloads.
  bool decode_standalone() const;
  // True if the builds of all members upload segments of results.
  bool divide_results() const;
  // These members without the late ones.
  Bitmap without_late(const Bitmap& members) const;
  // Excludes these members from the next attempt.
  void exclude(Bitmap members) { excluded_ = std::move(members); }
  // Records the number of examples of an agent, by which its updates are weighted in proportion to
  // the agent with most examples. Ignored unless the job weights by examples.
  void count_examples(const std::string& agent_id, std::uint64_t examples);

 private:
  double weight_of(const std::string& agent_id, double most) const;
  double most_examples() const;
  Bitmap drawn_from(const Bitmap& candidates, std::uint64_t round) const;

  const JobContext& job_;
  Roster& roster_;
  std::uint32_t last_epoch_;
  std::vector<Member> members_;
  std::map<std::string, std::uint32_t> by_agent_;
  std::shared_ptr<const EpochRecord> epoch_;
  Bitmap excluded_;
  Stragglers stragglers_;
  std::map<std::string, std::uint64_t> examples_;  // by agent id, as last reported
};

}  // namespace tributary
