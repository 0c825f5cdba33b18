// A bucket as matrices: which of them are factored, and where their parts lie in the two stages'
// bodies. All agents and aggregators come to the same answer from the plan alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary::lowrank {

// Row-major. The last rows may be cut short: what is missing counts as zero.
struct Matrix {
  std::size_t offset;  // of its first value in the bucket
  std::size_t count;
  std::size_t rows;
  std::size_t cols;
  bool factored;
  std::size_t left_at;  // if factored: its bound, then the left factor, in floats of stage 0's body
  std::size_t right_at;  // the right factor, or all values, in floats of stage 1's body

  friend bool operator==(const Matrix&, const Matrix&) = default;
};

// Stage 1's body begins with the right factors of all matrices; what travels raw comes behind.
struct Matrices {
  std::vector<Matrix> all;
  std::size_t left_floats = 0;    // stage 0
  std::size_t factor_floats = 0;  // stage 1, right factors
  std::size_t right_floats = 0;   // stage 1, all of it

  friend bool operator==(const Matrices&, const Matrices&) = default;
};

// Without layers the bucket is one matrix as nearly square as can be. A vector, and a matrix that
// two factors would not make smaller, is not factored.
Result<Matrices> cut_into_matrices(std::size_t rank, std::span<const LayerRun> layers,
                                   std::size_t values);

}  // namespace tributary::lowrank
