// The sessions of a coordinator, one per agent or aggregator, with the state that the coordinator
// has about each. Not thread-safe.
//
// It bounds nothing itself: CoordinatorSessions refuses agents beyond agents_max. A lookup costs a
// search in a map of all sessions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/round/common/machine/round_key.h"
#include "core/round/common/session/conversation.h"

namespace tributary {

// One agent's session. The fields of its job are reset when the agent changes its job.
struct AgentSession {
  AgentSession(std::string id, std::uint64_t incarnation_number, Conversation opened_conversation)
      : agent_id(std::move(id)),
        incarnation(incarnation_number),
        conversation(std::move(opened_conversation)) {}

  std::string agent_id;
  std::uint64_t incarnation;
  Conversation conversation;
  std::string build;
  std::string device_model;
  bool decodes_standalone = false;  // wire::kStandaloneFeature
  bool divides_results = false;     // wire::kSegmentsFeature
  bool sums_in_network = false;     // its host exchanges with an aggregator (Capabilities)
  bool sizes_packets = false;       // wire::kPacketValuesFeature
  // Above 0: not an agent, but an aggregator in the network with so many slots at `endpoint`. It
  // works for no job of its own.
  std::uint32_t aggregator_slots = 0;
  std::uint32_t packet_values = 0;  // of an aggregator: most values in a packet; 0: 1024
  Bytes public_key;      // authenticated by the transport; empty: the connection is not encrypted
  std::string endpoint;  // address for connections of peers, or for packets; empty: none
  std::vector<wire::HoldingT> holdings;  // from its Hello
  std::uint64_t hello_id = 0;            // message id of the Hello that began the session
  TimeNs challenged_at_ns = 0;           // when another process claimed the agent id; 0: none did
  TimeNs refusal_noted_at_ns = -kNever;
  bool leaving = false;
  std::uint64_t payload_bytes_in = 0;  // without the padding of probes
  std::uint64_t padding_bytes_out = 0;
  MessageBytes received;  // not yet published with a round
  TimeNs links_reported_at_ns = -kNever;

  std::uint64_t run = 0;  // the job for which it works; 0: none

  // --- the state of that job ---
  std::uint64_t job = 0;        // the job that the agent has; 0: none yet
  std::uint64_t job_asked = 0;  // the job that was last sent
  bool synced = false;          // its model is known to be the one of `version`
  std::uint64_t version = 0;
  std::uint64_t commit_sent = 0;  // the highest version whose commit was sent
  RoundKey plan_sent;             // the last plan that was sent
  std::uint64_t transfer = 0;     // number of the running model download; 0: none
  std::uint64_t transfer_version = 0;
  bool transfer_before_job = false;  // offered before the agent acknowledged the job
  bool transfer_waits = false;       // waits until other downloads have ended
  bool transfer_requested = false;   // waits for the journal to load the outcome of its rounds
  std::uint32_t generation = 0;      // number of downloads that it has finished
  std::vector<RoundKey> undecided;   // contributions whose outcome it did not know at its Hello

  bool is_aggregator() const { return aggregator_slots > 0; }
  // True if the agent can participate in the round after this version of the job's model: it has
  // that model, or the commit of that version arrives before the next plan.
  bool ready(std::uint64_t of_job, std::uint64_t model_version) const {
    if (job != of_job || !synced || transfer != 0 || leaving) return false;
    return version == model_version ||
           (version + 1 == model_version && commit_sent == model_version);
  }
};

// Owns the sessions and finds them by number and by agent id. References stay valid until remove().
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
