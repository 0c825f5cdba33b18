// What became of rounds: the last ones with their payloads, for agents that are a few behind, and
// more of them with their outcomes alone, for agents that do not know what became of a
// contribution.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/round/common/machine/bitmap.h"
#include "core/round/common/machine/records.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

// A committed round that can still be given to whoever missed it.
struct Published {
  std::shared_ptr<const RoundPlan> plan;
  std::shared_ptr<const RoundRecord> record;
  std::shared_ptr<const wire::CommitT> commit;
  std::map<std::uint32_t, std::vector<SharedBytes>> combined;  // by bucket; of all its stages
  std::map<std::uint32_t, std::uint32_t> contributors;         // by bucket
  std::uint64_t bytes = 0;
};

std::shared_ptr<const wire::CommitT> commit_message(const RoundRecord& record,
                                                    wire::Collective collective);

struct Fate {
  bool committed = false;
  std::uint32_t buckets = 0;
  Bitmap contributed;  // the buckets in which the agent counted
};

class History {
 public:
  History(std::uint64_t payload_bytes_max, std::size_t rounds_max)
      : payload_bytes_max_(payload_bytes_max), rounds_max_(rounds_max) {}

  void add_epoch(std::shared_ptr<const EpochRecord> epoch);
  void add_outcome(std::shared_ptr<const RoundRecord> record);
  // Also its outcome.
  void publish(Published round);

  const Published* published(std::uint64_t round) const;
  const RoundRecord* outcome(std::uint64_t round) const;
  // The oldest round whose outcome is here; 0: none.
  std::uint64_t first_round() const { return outcomes_.empty() ? 0 : outcomes_.begin()->first; }

  // What became of an agent's contribution; nothing where that is not known here, because the round
  // is too old. `model_version` is that of the last commit.
  std::optional<Fate> fate(const std::string& agent_id, const RoundKey& id,
                           std::uint64_t model_version) const;
  std::uint64_t bytes() const { return bytes_; }

 private:
  const EpochRecord* epoch(std::uint32_t number) const;
  void trim();

  const std::uint64_t payload_bytes_max_;
  const std::size_t rounds_max_;
  std::deque<Published> published_;
  std::map<std::uint64_t, std::shared_ptr<const RoundRecord>> outcomes_;
  std::map<std::uint32_t, std::shared_ptr<const EpochRecord>> epochs_;
  std::uint64_t bytes_ = 0;
};

Fate fate_in(const RoundRecord& record, const EpochRecord& epoch, const std::string& agent_id,
             const RoundKey& id);

}  // namespace tributary
