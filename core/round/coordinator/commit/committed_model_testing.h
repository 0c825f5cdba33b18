// Committed models for unit tests.
#pragma once

#include <cstdint>
#include <memory>

#include "core/round/common/plan/small_job_testing.h"
#include "core/round/coordinator/commit/committed_model.h"

namespace tributary::round_testing {

// A model whose values do not matter, only its version and hash.
inline CommittedModel::State model_state(std::uint64_t version, std::uint64_t hash) {
  return {.version = version,
          .hash = hash,
          .values = std::make_shared<const FloatVector>(kSmallValues, 0.5f),
          .rule_state = std::make_shared<const Bytes>()};
}

}  // namespace tributary::round_testing
