#include "core/round/common/machine/round_key.h"

#include <fmt/format.h>

namespace tributary {

RoundKey key_of(const wire::RoundId& id) {
  return {.job = id.job(), .round = id.round(), .epoch = id.epoch(), .attempt = id.attempt()};
}

wire::RoundId wire_id(const RoundKey& key) {
  return wire::RoundId(key.job, key.round, key.epoch, key.attempt);
}

std::string text(const RoundKey& key) {
  return fmt::format("job {} round {} (epoch {}, attempt {})", key.job, key.round, key.epoch,
                     key.attempt);
}

}  // namespace tributary
