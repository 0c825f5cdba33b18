// Uploads whose stage closed before they were complete, for the rounds that follow in the same
// epoch. Their agents continue each one at the byte where it stopped, so that a payload that takes
// longer than a round reaches the coordinator within several.
//
// Only payloads that mean the same in every round are kept (PlannedBucket::outlives_round()). An
// agent names the round in which it encoded the payload; any other payload begins anew. The memory
// has a limit, beyond which an upload is dropped and begins anew. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/round/common/machine/records.h"
#include "core/round/coordinator/uploads/incoming.h"

namespace tributary {

class CarriedUploads {
 public:
  explicit CarriedUploads(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // Keeps an incomplete payload of the attempt `sent_in`, which was encoded in `encoded_round`.
  void keep(const IncomingKey& key, const RoundKey& sent_in, std::uint64_t encoded_round,
            Reassembly payload);
  // Takes a part that arrives after its stage has closed. Returns false if its payload is not kept.
  bool take(const IncomingKey& key, const wire::Part& part, ByteSpan payload);
  // Hands back the payload; empty if another one was encoded in that round, or none is kept.
  std::optional<Reassembly> resume(const IncomingKey& key, std::uint64_t encoded_round,
                                   std::uint64_t bytes);
  // Another epoch begins, in which members have other indices.
  void clear();
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Upload {
    RoundKey sent_in;
    std::uint64_t encoded_round = 0;
    Reassembly payload;
  };
  void erase(const IncomingKey& key);

  const std::uint64_t bytes_max_;
  std::uint64_t bytes_ = 0;
  std::map<IncomingKey, Upload> uploads_;
};

}  // namespace tributary
