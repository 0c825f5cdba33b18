// Keeps the encoders of an agent, with their memory, from round to round.
//
// An encoder whose memory must be equal on all agents (conserves()) is made anew in every epoch,
// because new members have an empty memory. The private memory of other encoders stays. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/round/common/plan/round_plan.h"

namespace tributary {

class EncoderCache {
 public:
  // Returns the encoder of a bucket. Makes a new one if codec, values or, where it matters, the
  // epoch differ.
  Encoder& get(const PlannedBucket& bucket, std::uint32_t epoch);
  // The existing encoder of a bucket, or null.
  Encoder* find(const PlannedBucket& bucket);
  // Drops the encoder of a bucket with its memory.
  void drop(const PlannedBucket& bucket) { encoders_.erase(bucket.place); }
  void clear() { encoders_.clear(); }

 private:
  // An encoder and the bucket for which it was made.
  struct Kept {
    std::shared_ptr<const Codec> codec;
    std::uint64_t first_value = 0;
    std::uint32_t values = 0;
    std::uint32_t epoch = 0;
    std::unique_ptr<Encoder> encoder;
  };
  std::map<std::uint32_t, Kept> encoders_;  // by the bucket's place, for all exchanges of a round
};

}  // namespace tributary
