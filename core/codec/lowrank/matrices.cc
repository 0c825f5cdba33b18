#include "core/codec/lowrank/matrices.h"

#include <fmt/format.h>

#include <array>

namespace tributary::lowrank {
namespace {

// The smallest number of rows whose square covers all values.
LayerRun nearly_square(std::size_t values) {
  std::uint32_t rows = 1;
  while (std::size_t{rows} * rows < values) ++rows;
  return {.offset = 0, .count = static_cast<std::uint32_t>(values), .rows = rows};
}

// Positions in the bodies are set later, when all matrices are known.
Matrix matrix_of(std::size_t rank, const LayerRun& layer) {
  Matrix matrix = {.offset = layer.offset,
                   .count = layer.count,
                   .rows = layer.rows,
                   .cols = (layer.count + std::size_t{layer.rows} - 1) / layer.rows,
                   .factored = false,
                   .left_at = 0,
                   .right_at = 0};
  // Factors are worthwhile only if both together are smaller than the matrix.
  matrix.factored = layer.rows > 1 && rank * (matrix.rows + matrix.cols) < matrix.count;
  return matrix;
}

Status check_layer(const LayerRun& layer, std::size_t offset, std::size_t values) {
  const bool in_place = layer.offset == offset && layer.count <= values - offset;
  if (in_place && layer.rows > 0 && layer.count % layer.rows == 0) return {};
  return Status(StatusCode::invalid_argument,
                {.what = fmt::format("layer at value {} of a bucket", layer.offset),
                 .expected = fmt::format("whole rows from value {} to {} at most", offset, values),
                 .got = fmt::format("{} values in {} rows", layer.count, layer.rows),
                 .remedy = "name the bucket's layers in order and without gaps"});
}

}  // namespace

Result<Matrices> cut_into_matrices(std::size_t rank, std::span<const LayerRun> layers,
                                   std::size_t values) {
  Matrices cut;
  if (layers.empty()) {
    if (values > 0) cut.all.push_back(matrix_of(rank, nearly_square(values)));
  } else {
    std::size_t end = 0;
    for (const LayerRun& layer : layers) {
      TRIBUTARY_TRY(check_layer(layer, end, values));
      end += layer.count;
      cut.all.push_back(matrix_of(rank, layer));
    }
    // The layers must also end where the bucket ends.
    TRIBUTARY_TRY(check_layer({.offset = static_cast<std::uint32_t>(values)}, end, values));
  }
  for (Matrix& matrix : cut.all) {
    if (!matrix.factored) continue;
    matrix.left_at = cut.left_floats;
    matrix.right_at = cut.factor_floats;
    cut.left_floats += 1 + rank * matrix.rows;
    cut.factor_floats += rank * matrix.cols;
  }
  cut.right_floats = cut.factor_floats;
  for (Matrix& matrix : cut.all) {
    if (matrix.factored) continue;
    matrix.right_at = cut.right_floats;
    cut.right_floats += matrix.count;
  }
  return cut;
}

}  // namespace tributary::lowrank
