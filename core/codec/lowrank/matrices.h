// Divides a bucket into matrices: which of them are factored, and the positions of their parts in
// the bodies of PowerSGD's two stages. The result depends only on the plan, so all agents and
// aggregators compute the same.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/status.h"
#include "core/codec/codec.h"

namespace tributary::lowrank {

// A row-major matrix in the bucket. Its last rows may be incomplete; missing values count as zero.
struct Matrix {
  std::size_t offset;  // index of its first value in the bucket
  std::size_t count;
  std::size_t rows;
  std::size_t cols;
  bool factored;
  std::size_t left_at;   // if factored: position of its bound in stage 0's body, in floats
  std::size_t right_at;  // position of its right factor or values in stage 1's body, in floats

  friend bool operator==(const Matrix&, const Matrix&) = default;
};

// All matrices of a bucket, and the sizes of the bodies in floats. In stage 0, each bound is
// followed by its left factor. Stage 1's body begins with the right factors of all factored
// matrices; the raw values of the others follow.
struct Matrices {
  std::vector<Matrix> all;
  std::size_t left_floats = 0;    // stage 0
  std::size_t factor_floats = 0;  // stage 1, right factors
  std::size_t right_floats = 0;   // stage 1, complete body

  friend bool operator==(const Matrices&, const Matrices&) = default;
};

// Divides a bucket. Without layers, the bucket is one matrix that is as nearly square as possible.
// Vectors are not factored, nor are matrices that two factors would not make smaller. Returns
// invalid_argument if the layers have gaps, overlap, or do not consist of whole rows.
Result<Matrices> cut_into_matrices(std::size_t rank, std::span<const LayerRun> layers,
                                   std::size_t values);

}  // namespace tributary::lowrank
