// Sends results of committed rounds to agents that are behind: from memory, or else from the
// journal.
//
// One bucket of one round is read at a time, so a commit waits for one read at most. Results that
// were read stay in memory as long as they are being sent, and all sessions share them. So the
// results in memory are at most those that History names. `job` and `committed` must outlive the
// object. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/round/coordinator/commit/committed_model.h"
#include "core/round/coordinator/context/job_context.h"

namespace tributary {

class LateResults {
 public:
  LateResults(const JobContext& job, const CommittedModel& committed)
      : job_(job), committed_(committed) {}

  // The results of a bucket that an agent lacks: stages from `stage` on, of the first of them
  // the bytes from `from` on.
  struct Lack {
    std::uint32_t bucket = 0;
    std::uint32_t stage = 0;
    std::uint64_t from = 0;
  };

  // Sends it, or has it read first. `round` is one of the history. Returns the number of bytes that
  // are sent now.
  std::uint64_t send(AgentSession& session, const Published& round, const Lack& lack);

  struct Sent {
    std::uint64_t bytes = 0;
    // Their results cannot be read, or are no longer stored.
    std::vector<AgentSession*> failed = {};
  };
  // Handles the journal's answer: sends the results to all sessions that wait for them. Empty if
  // the answer belongs to a request of another object.
  std::optional<Sent> loaded(const RoundLoaded& event);

  // Bytes that were read and are being sent.
  std::uint64_t bytes_read() const;

  // Adds what was read, and for which agents, since the last call of facts_stored().
  void add_facts(wire::RoundMechanismsT& facts) const;
  void facts_stored() { facts_ = {}; }

 private:
  using Place = std::pair<std::uint64_t, std::uint32_t>;  // round and bucket
  using Results = std::vector<SharedBytes>;               // of all stages

  // Empty: they are not in memory.
  Results find(const Published& round, std::uint32_t bucket) const;
  Results read(const RoundLoaded& event, const Published* round, std::uint32_t bucket);
  void count(std::uint64_t round, const Results& read);
  std::uint64_t stream(AgentSession& session, const Published& round, const Lack& lack,
                       const Results& results);
  bool waits_for(const AgentSession& session, std::uint64_t round) const;
  void read_next();

  const JobContext& job_;
  const CommittedModel& committed_;
  std::map<Place, std::vector<std::weak_ptr<const Bytes>>> being_sent_;  // that were read
  // By session. Each waits for results of the round after its own.
  std::map<Place, std::map<std::uint64_t, Lack>> waiting_;
  struct Reading {
    Token token = 0;
    Place place;
  };
  std::optional<Reading> reading_;
  wire::RoundMechanismsT facts_;
};

}  // namespace tributary
