// Uploads that go on after their stage has closed. An agent that is late does not stop sending, and
// counts in a later round, so that a payload that takes longer than a round reaches the coordinator
// within several.
//
// Only payloads that mean the same in every round are kept (PlannedBucket::outliving_stage()). An
// agent names the round in which it encoded the payload; any other payload begins anew. An upload
// belongs to the process of an agent and not to an epoch, so it continues when the members change.
// The memory has a limit, beyond which an upload is dropped and begins anew. Not thread-safe.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/round/common/machine/reassembly.h"
#include "core/round/common/machine/records.h"

namespace tributary {

class CarriedUploads {
 public:
  // The owner of an upload; its bucket is one of the model's, not of a plan.
  struct Key {
    std::string agent_id;
    std::uint32_t bucket = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // The part of a payload that has arrived.
  struct Begun {
    RoundKey sent_in;                 // the attempt that its parts name
    std::uint32_t stage = 0;          // the stage that its parts name
    std::uint64_t encoded_round = 0;  // the round in which the payload was encoded
    Reassembly payload;
  };

  explicit CarriedUploads(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Keeps an upload whose stage has closed. It replaces the one before.
  void keep(const Key& key, Begun begun);
  // Nothing of the agent's payload of this stage and round has arrived, and the bucket has closed
  // or its agent is called. An upload of up to so many bytes begins with its first part, and
  // replaces the one before then.
  void await(const Key& key, std::uint64_t round, std::uint32_t stage, std::uint64_t bytes_max);
  // True if an upload of so many bytes would be kept now.
  bool fits(std::uint64_t bytes) const { return bytes_ + bytes <= bytes_max_; }
  // Takes a part. Returns false if its payload is not kept.
  bool take(const std::string& agent_id, const wire::Part& part, ByteSpan payload);
  // Hands back the payload; empty if another one was encoded in that round, or none is kept.
  std::optional<Reassembly> resume(const Key& key, std::uint64_t encoded_round,
                                   std::uint64_t bytes);
  // The part of an upload that has arrived; null if none has. Valid until the next change.
  const Begun* find(const Key& key) const;
  // True if a part of an upload of the agent has arrived and another part is missing. Complete
  // uploads only wait to be counted.
  bool is_sending(const std::string& agent_id) const;
  // The agent's uploads are complete, but the stage of one has closed already in this round. True
  // if the others wait for the next round, so that all count together. They wait once: an agent
  // that is always behind counts with those that are in time.
  bool postpone(const std::string& agent_id, std::uint64_t round);

  // The agent's payload of the bucket has counted, so an earlier one is of no use.
  void counted(const std::string& agent_id, std::uint32_t bucket);
  // The agent's process has ended.
  void forget(const std::string& agent_id);
  // Drops everything of the agents for which is_kept() returns false.
  template <typename IsKept>
  void keep_only(IsKept&& is_kept) {
    for (auto at = uploads_.begin(); at != uploads_.end();) {
      at = is_kept(at->first.agent_id) ? std::next(at) : erase(at);
    }
    std::erase_if(postponed_, [&](const auto& each) { return !is_kept(each.first); });
  }
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Upload {
    std::optional<Begun> begun;
    // The rounds of which nothing has arrived; an agent may be sending for any of them.
    std::uint64_t first_round = 0;
    std::uint64_t last_round = 0;
    std::uint32_t stage = 0;
    std::uint64_t bytes_max = 0;
  };
  using Uploads = std::map<Key, Upload>;

  Uploads::iterator erase(Uploads::iterator at);
  void drop_begun(Upload& upload);
  bool begin(Upload& upload, Begun begun);

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  Uploads uploads_;
  // By agent: the round from which its uploads wait for the next one; none of them counted since.
  std::map<std::string, std::uint64_t> postponed_;
};

}  // namespace tributary
