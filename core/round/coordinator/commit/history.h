// The recent rounds of a job: the latest ones with their payloads, for agents that are a few rounds
// behind, and more of them with their outcomes only, for agents that do not know whether a
// contribution counted. The memory of both is limited: the oldest payloads are in the journal
// alone. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// A committed round with everything that an agent needs to apply it.
struct Published {
  std::shared_ptr<const RoundPlan> plan;
  std::shared_ptr<const RoundRecord> record;
  std::shared_ptr<const wire::CommitT> commit;
  // By bucket; of all stages. Empty if they are not in memory.
  std::map<std::uint32_t, std::vector<SharedBytes>> combined;
  std::map<std::uint32_t, std::uint32_t> contributors;  // by bucket
  std::uint64_t bytes = 0;                              // of the payloads, wherever they are
  bool in_memory = true;
};

// The message that publishes a committed round.
std::shared_ptr<const wire::CommitT> commit_message(const RoundRecord& record,
                                                    wire::Collective collective);

// The outcome of one agent's contribution to a round.
struct Fate {
  bool committed = false;
  std::uint32_t buckets = 0;
  Bitmap contributed;  // the buckets in which the agent's contribution counts
};

class History {
 public:
  // Limits for payloads in bytes, for those of them that are in memory, and for rounds.
  // The last published round is kept in memory whatever its size, until drop_payloads_for() or
  // free_large_payloads().
  History(std::uint64_t payload_bytes_max, std::size_t rounds_max,
          std::uint64_t bytes_in_memory_max = std::numeric_limits<std::uint64_t>::max())
      : payload_bytes_max_(payload_bytes_max),
        bytes_in_memory_max_(bytes_in_memory_max),
        rounds_max_(rounds_max) {}

  void add_epoch(std::shared_ptr<const EpochRecord> epoch);
  void add_outcome(std::shared_ptr<const RoundRecord> record);
  // Adds the round and its outcome.
  void publish(Published round);
  // A round with so many bytes of payloads will be published. Drops all others if they exceed the
  // limit alone.
  void drop_payloads_for(std::uint64_t bytes);
  // Frees the payloads of the last round, too, if they exceed the limit for memory and the journal
  // keeps them.
  void free_large_payloads();

  // The first round whose payloads the journal must keep once `round` is published with so many
  // bytes; 0: none.
  std::uint64_t journal_from(std::uint64_t round, std::uint64_t bytes) const;

  // The round, whose payloads are in memory or in the journal; null if it is no longer kept.
  const Published* published(std::uint64_t round) const;
  // The outcome of the round; null if it is no longer kept.
  const RoundRecord* outcome(std::uint64_t round) const;
  // The oldest round with an outcome; 0: none.
  std::uint64_t first_round() const { return outcomes_.empty() ? 0 : outcomes_.begin()->first; }

  // The outcome of an agent's contribution; empty if the round is no longer kept. `model_version`
  // is the version of the last commit; a later round counts as not committed.
  std::optional<Fate> fate(const std::string& agent_id, const RoundKey& id,
                           std::uint64_t model_version) const;
  std::uint64_t bytes_in_memory() const { return bytes_in_memory_; }

 private:
  const EpochRecord* epoch(std::uint32_t number) const;
  // Whether the journal keeps a round with so many bytes of payloads, if it is the last one.
  bool journal_keeps(std::uint64_t bytes) const;
  void trim();
  void trim_payloads();
  void free_payloads(Published& round);

  const std::uint64_t payload_bytes_max_;
  const std::uint64_t bytes_in_memory_max_;
  const std::size_t rounds_max_;
  std::deque<Published> published_;
  std::map<std::uint64_t, std::shared_ptr<const RoundRecord>> outcomes_;
  std::map<std::uint32_t, std::shared_ptr<const EpochRecord>> epochs_;
  std::uint64_t bytes_ = 0;  // of all published rounds
  std::uint64_t bytes_in_memory_ = 0;
};

// The outcome of an agent's contribution to attempt `id`, from the record of the round and its
// epoch.
Fate fate_in(const RoundRecord& record, const EpochRecord& epoch, const std::string& agent_id,
             const RoundKey& id);

}  // namespace tributary
