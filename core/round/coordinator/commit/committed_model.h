// The model of a job after its last stored commit, with the recent rounds that led to it.
//
// CommitWriter replaces it; all other objects read it. Its values are shared and immutable, so a
// reader may keep them. Not thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/round/common/machine/records.h"
#include "core/round/coordinator/commit/history.h"

namespace tributary {

class CommittedModel {
 public:
  struct State {
    std::uint64_t version = 0;
    std::uint64_t hash = 0;
    SharedFloats values;
    SharedBytes rule_state;  // state of the optimizer after this version
  };

  // The limits of its history.
  CommittedModel(std::uint64_t payload_bytes_max, std::size_t rounds_max,
                 std::uint64_t bytes_in_memory_max = std::numeric_limits<std::uint64_t>::max())
      : history_(payload_bytes_max, rounds_max, bytes_in_memory_max) {}

  std::uint64_t version() const { return state_.version; }
  std::uint64_t hash() const { return state_.hash; }
  const State& state() const { return state_; }
  void replace(State state) { state_ = std::move(state); }

  // The accumulated loss of encoding sums again; null until a codec keeps one. The attempt in
  // progress changes it when its results are applied, and the commit's record then shares it until
  // it is stored.
  SharedFloats aggregator_residual() const { return aggregator_residual_; }
  std::shared_ptr<FloatVector>& mutable_residual() { return aggregator_residual_; }

  History& history() { return history_; }
  const History& history() const { return history_; }
  // The hash of the model of this version; empty if it is no longer known.
  std::optional<std::uint64_t> known_hash(std::uint64_t version) const;

 private:
  State state_;
  std::shared_ptr<FloatVector> aggregator_residual_;
  History history_;
};

}  // namespace tributary
