// The model of a job after its last stored commit, with the rounds that led to it as far as they
// are kept.
//
// CommitWriter replaces it; everything else reads it. Values are shared and immutable.
#pragma once

#include <cstdint>
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
    SharedBytes rule_state;            // of the optimizer, after this version
    SharedFloats aggregator_residual;  // null: none is kept
  };

  CommittedModel(std::uint64_t payload_bytes_max, std::size_t rounds_max)
      : history_(payload_bytes_max, rounds_max) {}

  std::uint64_t version() const { return state_.version; }
  std::uint64_t hash() const { return state_.hash; }
  const State& state() const { return state_; }
  void replace(State state) { state_ = std::move(state); }

  History& history() { return history_; }
  const History& history() const { return history_; }
  // The hash of the model of an earlier version; nothing where that round is not kept any more.
  std::optional<std::uint64_t> known_hash(std::uint64_t version) const;

 private:
  State state_;
  History history_;
};

}  // namespace tributary
