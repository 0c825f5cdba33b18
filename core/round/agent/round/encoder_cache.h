// Keeps the encoders of an agent from round to round, with what they remember. An encoder that all
// agents must remember alike (conserves()) begins anew with every epoch, because members come with
// empty memories; a private memory stays.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/round/common/plan/round_plan.h"

namespace tributary {

class EncoderCache {
 public:
  Encoder& get(const PlannedBucket& bucket, std::uint32_t epoch);
  Encoder* find(const PlannedBucket& bucket);
  void clear() { encoders_.clear(); }

 private:
  struct Kept {
    std::shared_ptr<const Codec> codec;
    std::uint64_t first_value = 0;
    std::uint32_t values = 0;
    std::uint32_t epoch = 0;
    std::unique_ptr<Encoder> encoder;
  };
  std::map<std::uint32_t, Kept> encoders_;  // by bucket
};

}  // namespace tributary
