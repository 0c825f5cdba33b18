#include "core/codec/cuda/lowrank/lowrank.h"

#include "core/codec/cuda/block.h"
#include "core/codec/cuda/lanes.h"
#include "core/codec/lowrank/elements.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

// Index of a row's first value, at most matrix.count: the product may exceed 32 bits.
__device__ std::uint32_t begin_of(const DeviceMatrix& matrix, std::uint32_t row) {
  const std::uint64_t begin = std::uint64_t{row} * matrix.cols;
  return begin < matrix.count ? static_cast<std::uint32_t>(begin) : matrix.count;
}

// Sixteen threads take kRows rows at a time, so that they share what they read of `right`. Each
// thread adds in one lane of the specification. Adding a product with 0 changes no sum, because no
// sum is -0. All threads of a block take the same number of turns.
constexpr std::uint32_t kRowsOfGroup = 2;

template <unsigned kColumns>
__global__ void __launch_bounds__(kThreads)
    multiply_row_groups(DeviceMatrix matrix, const float* right, double scale, float* left,
                        double* squares) {
  constexpr unsigned kGroups = kThreads / kSumLanes;
  // Loads in flight for each row. Clang keeps more in registers than nvcc, and would spill some.
#if defined(__clang__)
  constexpr unsigned kBatch = kColumns < 4 ? 4 : 2;
#else
  constexpr unsigned kBatch = 4;
#endif
  const unsigned lane = threadIdx.x % kSumLanes;
  for (std::uint32_t first = blockIdx.x * kGroups * kRowsOfGroup; first < matrix.rows;
       first += gridDim.x * kGroups * kRowsOfGroup) {
    const std::uint32_t row = first + threadIdx.x / kSumLanes * kRowsOfGroup;
    const float* rows[kRowsOfGroup];
    std::uint32_t filled[kRowsOfGroup];
    for (std::uint32_t r = 0; r < kRowsOfGroup; ++r) {
      const std::uint32_t begin = row + r < matrix.rows ? begin_of(matrix, row + r) : matrix.count;
      rows[r] = matrix.values + begin;
      filled[r] = min(matrix.cols, matrix.count - begin);
    }
    for (std::uint32_t column = 0; column < matrix.rank; column += kColumns) {
      double products[kRowsOfGroup][kColumns] = {};
      double own[kRowsOfGroup] = {};
      for (std::uint32_t i = 0; i < matrix.cols; i += kBatch * kSumLanes) {
        float x[kBatch][kRowsOfGroup];
        for (unsigned b = 0; b < kBatch; ++b) {
          const std::uint32_t at = i + b * kSumLanes + lane;
          for (std::uint32_t r = 0; r < kRowsOfGroup; ++r) {
            x[b][r] = at < filled[r] ? rows[r][at] : 0.0f;
          }
        }
        for (unsigned b = 0; b < kBatch; ++b) {
          const std::uint32_t at = i + b * kSumLanes + lane;
          for (unsigned k = 0; k < kColumns; ++k) {
            const bool exists = column + k < matrix.rank && at < matrix.cols;
            const auto q = static_cast<double>(
                exists ? right[std::size_t{column + k} * matrix.cols + at] : 0.0f);
            for (std::uint32_t r = 0; r < kRowsOfGroup; ++r) {
              products[r][k] += static_cast<double>(x[b][r]) * q;
            }
          }
          for (std::uint32_t r = 0; r < kRowsOfGroup; ++r) {
            own[r] += static_cast<double>(x[b][r]) * static_cast<double>(x[b][r]);
          }
        }
      }
      for (std::uint32_t r = 0; r < kRowsOfGroup; ++r) {
        const bool writes = lane == 0 && row + r < matrix.rows;
        for (unsigned k = 0; k < kColumns; ++k) {
          const double product = add_lanes(products[r][k]);
          if (writes && column + k < matrix.rank) {
            left[std::size_t{column + k} * matrix.rows + row + r] =
                static_cast<float>(product * scale);
          }
        }
        const double square = add_lanes(own[r]);
        if (writes) squares[row + r] = square;
      }
    }
  }
}

// A block takes kWarpThreads columns of the matrix, and each of its warps one column of `left`, or
// several in turn. The block reads tiles of kTileRows rows, the next one while it works on one.
// Each thread adds the products of its column in the order of the rows, as the specification does.
constexpr std::uint32_t kTileRows = 64;

class ColumnTiles {
 public:
  __device__ ColumnTiles(const DeviceMatrix& matrix, std::uint32_t column)
      : matrix_(matrix), column_(column + threadIdx.x % kWarpThreads) {}

  // Reads this thread's part of the tile that begins with a row.
  __device__ void read(std::uint32_t row) {
    for (unsigned i = 0; i < kPart; ++i) {
      const std::uint32_t own = row + i * kWarps + threadIdx.x / kWarpThreads;
      const std::uint64_t at = std::uint64_t{own} * matrix_.cols + column_;
      part_[i] = column_ < matrix_.cols && at < matrix_.count ? matrix_.values[at] : 0.0f;
    }
  }
  __device__ void write(float (*tile)[kWarpThreads]) const {
    for (unsigned i = 0; i < kPart; ++i) {
      tile[i * kWarps + threadIdx.x / kWarpThreads][threadIdx.x % kWarpThreads] = part_[i];
    }
  }

 private:
  static constexpr unsigned kPart = kTileRows / kWarps;

  const DeviceMatrix& matrix_;
  const std::uint32_t column_;
  float part_[kPart];
};

__global__ void TRIBUTARY_BLOCKS_BY_CLANG(4)
    multiply_column_tiles(DeviceMatrix matrix, const float* left, double* right) {
  __shared__ float tile[kTileRows][kWarpThreads];
  __shared__ double weights[kWarps][kTileRows];
  const unsigned lane = threadIdx.x % kWarpThreads;
  const unsigned warp = threadIdx.x / kWarpThreads;
  for (std::uint32_t column = blockIdx.x * kWarpThreads; column < matrix.cols;
       column += gridDim.x * kWarpThreads) {
    for (std::uint32_t first = 0; first < matrix.rank; first += kWarps) {
      const bool works = first + warp < matrix.rank;
      const float* const own = left + std::size_t{first + warp} * matrix.rows;
      ColumnTiles tiles(matrix, column);
      tiles.read(0);
      double sum = 0;
      for (std::uint32_t row = 0; row < matrix.rows; row += kTileRows) {
        tiles.write(tile);
        if (works) {
          for (std::uint32_t i = lane; i < kTileRows; i += kWarpThreads) {
            weights[warp][i] = row + i < matrix.rows ? static_cast<double>(own[row + i]) : 0.0;
          }
        }
        __syncthreads();
        if (matrix.rows - row > kTileRows) tiles.read(row + kTileRows);
        if (works) {
          for (std::uint32_t i = 0; i < kTileRows; ++i) {
            sum += static_cast<double>(tile[i][lane]) * weights[warp][i];
          }
        }
        __syncthreads();  // before the next tile
      }
      if (works && column + lane < matrix.cols) {
        right[std::size_t{first + warp} * matrix.cols + column + lane] = sum;
      }
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    expand_values(DeviceMatrix matrix, const float* left, const float* right, double scale,
                  float* values) {
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < matrix.count;
       i += gridDim.x * kThreads) {
    const std::uint32_t row = i / matrix.cols;
    const std::uint32_t column = i - row * matrix.cols;
    double sum = 0;
    for (std::uint32_t k = 0; k < matrix.rank; ++k) {
      sum += static_cast<double>(left[std::size_t{k} * matrix.rows + row]) *
             static_cast<double>(right[std::size_t{k} * matrix.cols + column]);
    }
    values[i] = lowrank::within_float(sum * scale);
    if (matrix.count - i <= gridDim.x * kThreads) break;  // i may not exceed 32 bits
  }
}

template <unsigned kColumns>
Status launch_rows(const Queue& queue, const DeviceMatrix& matrix, const float* right, double scale,
                   float* left, double* squares) {
  return launch(
      multiply_row_groups<kColumns>,
      shape_for(queue, "multiply_row_groups", matrix.rows, kThreads / kSumLanes * kRowsOfGroup),
      matrix, right, scale, left, squares);
}

}  // namespace

Status multiply_rows(const Queue& queue, const DeviceMatrix& matrix, const float* right,
                     double scale, float* left, double* squares) {
  const auto start = matrix.rank == 1   ? launch_rows<1>
                     : matrix.rank == 2 ? launch_rows<2>
                                        : launch_rows<4>;
  return start(queue, matrix, right, scale, left, squares);
}

Status multiply_columns(const Queue& queue, const DeviceMatrix& matrix, const float* left,
                        double* right) {
  return launch(multiply_column_tiles,
                shape_for(queue, "multiply_column_tiles", matrix.cols, kWarpThreads), matrix, left,
                right);
}

Status expand_factors(const Queue& queue, const DeviceMatrix& matrix, const float* left,
                      const float* right, double scale, float* values) {
  return launch(expand_values, shape_for(queue, "expand_values", matrix.count, kThreads), matrix,
                left, right, scale, values);
}

}  // namespace tributary::TRIBUTARY_DEVICE
