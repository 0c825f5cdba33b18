#include "core/round/coordinator/commit/committed_model.h"

namespace tributary {

std::optional<std::uint64_t> CommittedModel::known_hash(std::uint64_t version) const {
  if (version == state_.version) return state_.hash;
  if (const RoundRecord* record = history_.outcome(version)) return record->model_hash;
  if (const RoundRecord* record = history_.outcome(version + 1)) return record->previous_hash;
  return std::nullopt;
}

}  // namespace tributary
