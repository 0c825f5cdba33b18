// Who is connected: the coordinator's sessions, one per agent.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/round/common/machine/round_key.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

struct AgentSession {
  AgentSession(std::string id, std::uint64_t incarnation_number, Conversation talk)
      : agent_id(std::move(id)), incarnation(incarnation_number), conversation(std::move(talk)) {}

  std::string agent_id;
  std::uint64_t incarnation;
  Conversation conversation;
  std::string build;
  std::string device_model;
  Bytes public_key;      // that the transport has proven; empty: nothing is encrypted
  std::string endpoint;  // where peers may try to reach it; empty: nowhere
  std::vector<wire::HoldingT> holdings;  // as its Hello said
  std::uint64_t hello_id = 0;            // of the Hello that it began with
  TimeNs challenged_at_ns = 0;           // another incarnation has knocked; 0: none
  TimeNs refusal_noted_at_ns = -kNever;
  bool leaving = false;
  std::uint64_t payload_bytes_in = 0;  // without the padding of probes
  std::uint64_t padding_bytes_out = 0;
  MessageBytes received;  // that no round has told yet
  TimeNs links_told_at_ns = -kNever;

  std::uint64_t run = 0;  // the job that it works for; 0: none

  // --- of that job ---
  std::uint64_t job = 0;        // that it has; 0: none yet
  std::uint64_t job_asked = 0;  // that it was sent
  bool synced = false;          // its model is known to be that of `version`
  std::uint64_t version = 0;
  std::uint64_t commit_sent = 0;  // the highest version whose commit it was sent
  RoundKey plan_sent;             // the last plan it was sent
  std::uint64_t transfer = 0;     // that is under way
  std::uint64_t transfer_version = 0;
  bool transfer_before_job = false;  // it was offered before the agent had acknowledged the job
  bool transfer_waits = false;       // for others to have theirs
  bool transfer_wanted = false;      // waits for the journal to say what became of its rounds
  std::uint32_t generation = 0;      // counts the transfers it has finished
  std::vector<RoundKey> undecided;   // whose outcome it did not know when it came

  // The agent can take part in the round after this version of the job's model: it has that model,
  // or its commit arrives before, or with, the plan that comes next.
  bool ready(std::uint64_t of_job, std::uint64_t model_version) const {
    if (job != of_job || !synced || transfer != 0 || leaving) return false;
    return version == model_version ||
           (version + 1 == model_version && commit_sent == model_version);
  }
};

class Roster {
 public:
  using Sessions = std::map<std::uint64_t, std::unique_ptr<AgentSession>>;

  AgentSession& add(std::unique_ptr<AgentSession> session);
  void remove(std::uint64_t session);

  AgentSession* by_session(std::uint64_t session);
  AgentSession* by_agent(const std::string& agent_id);
  const Sessions& all() const { return sessions_; }
  std::size_t size() const { return sessions_.size(); }

 private:
  Sessions sessions_;
  std::map<std::string, std::uint64_t> by_agent_;
};

}  // namespace tributary
