#include "core/codec/thc/host/signs_and_range.h"

namespace tributary::thc {

StreamKey signs_key(const RoundContext& round) {
  return stream_key({.job_seed = round.job_seed,
                     .round = round.round,
                     .bucket = round.bucket,
                     .purpose = DrawPurpose::hadamard_sign});
}

}  // namespace tributary::thc
