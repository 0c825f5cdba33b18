#include "core/round/agent/round/encoder_cache.h"

namespace tributary {

Encoder& EncoderCache::get(const PlannedBucket& bucket, std::uint32_t epoch) {
  Kept& kept = encoders_[bucket.place];
  const bool same = kept.encoder && kept.codec->spec() == bucket.codec->spec() &&
                    kept.first_value == bucket.first_value && kept.values == bucket.values &&
                    (kept.epoch == epoch || !bucket.codec->conserves());
  if (!same) {
    kept = {.codec = bucket.codec,
            .first_value = bucket.first_value,
            .values = bucket.values,
            .epoch = epoch,
            .encoder = bucket.codec->make_encoder(bucket.values)};
  }
  return *kept.encoder;
}

Encoder* EncoderCache::find(const PlannedBucket& bucket) {
  const auto found = encoders_.find(bucket.place);
  if (found == encoders_.end() || found->second.codec->spec() != bucket.codec->spec() ||
      found->second.values != bucket.values) {
    return nullptr;
  }
  return found->second.encoder.get();
}

}  // namespace tributary
