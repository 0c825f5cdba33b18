// Compares a device's matrix products with those of the scalar specification, bit by bit. Built for
// the emulated device everywhere and, where nvcc is, for a GPU. Skipped, with the reason, if the
// device is not available.
#include "core/codec/cuda/lowrank/lowrank.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "core/codec/codec_testing.h"
#include "core/codec/cuda/device_testing.h"
#include "core/codec/lowrank/algebra.h"
#include "core/codec/simd/ordered_sum.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

using codec_testing::bits_of;
using codec_testing::kPatterns;
using codec_testing::Pattern;
using codec_testing::update;
using lowrank::DoubleVector;

constexpr Execution kScalar = {.backend = Backend::scalar};
// Keeps every product within float32.
constexpr double kScale = 0x1p-12;

class DeviceLowrank : public DeviceTest {
 protected:
  struct Shape {
    std::uint32_t rows;
    std::uint32_t cols;
    std::uint32_t missing = 0;  // values at the end
  };

  // Runs all three products of a matrix on the device, in grids of both sizes.
  void compare(const Shape& shape, std::uint32_t rank, Pattern pattern) const {
    const FloatVector values = update(pattern, shape.rows * shape.cols - shape.missing, 0);
    const FloatVector right = factor(shape.cols * rank, 1);
    const FloatVector left = factor(shape.rows * rank, 2);
    for (const Queue* const queue : queues()) {
      const DeviceArray<float> x = on_device<float>(values);
      const DeviceMatrix matrix = {.values = x.data(),
                                   .count = static_cast<std::uint32_t>(values.size()),
                                   .rows = shape.rows,
                                   .cols = shape.cols,
                                   .rank = rank};
      compare_rows(*queue, matrix, values, right);
      compare_columns(*queue, matrix, values, left);
      compare_expansion(*queue, matrix, left, update(pattern, right.size(), 3));
    }
  }

 private:
  // Values of the size of those that an encoder computes with.
  static FloatVector factor(std::size_t size, std::uint32_t agent) {
    return update(Pattern::normal, size, agent);
  }

  void compare_rows(const Queue& queue, const DeviceMatrix& matrix, const FloatVector& values,
                    const FloatVector& right) const {
    FloatVector expected(std::size_t{matrix.rows} * matrix.rank);
    const double sum =
        lowrank::multiply(kScalar, {values, matrix.rows, matrix.cols}, right, kScale, expected);
    const DeviceArray<float> columns = on_device<float>(right);
    DeviceArray<float> left = zeros<float>(expected.size());
    DeviceArray<double> squares = zeros<double>(matrix.rows);
    wait(queue, multiply_rows(queue, matrix, columns.data(), kScale, left.data(), squares.data()));
    ASSERT_EQ(bits_of(on_host(queue, left)), bits_of(expected));
    // The whole sum is that of one row at a time.
    const RawVector<double> of_rows = on_host(queue, squares);
    ASSERT_EQ(ordered_sum(of_rows), sum);
    if (matrix.rows > 1) return;
    ASSERT_EQ(of_rows[0], sum);
  }

  void compare_columns(const Queue& queue, const DeviceMatrix& matrix, const FloatVector& values,
                       const FloatVector& left) const {
    DoubleVector expected;
    lowrank::multiply_transposed(kScalar, {values, matrix.rows, matrix.cols}, left, expected);
    const DeviceArray<float> weights = on_device<float>(left);
    DeviceArray<double> right = zeros<double>(expected.size());
    wait(queue, multiply_columns(queue, matrix, weights.data(), right.data()));
    const RawVector<double> got = on_host(queue, right);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size() * sizeof(double)), 0);
  }

  void compare_expansion(const Queue& queue, const DeviceMatrix& matrix, const FloatVector& left,
                         const FloatVector& right) const {
    FloatVector expected(matrix.count);
    // The scale makes the largest values exceed float32.
    lowrank::expand(kScalar, matrix.rows, matrix.cols, left, right, 0x1p10, expected);
    const DeviceArray<float> weights = on_device<float>(left);
    const DeviceArray<float> columns = on_device<float>(right);
    DeviceArray<float> values = zeros<float>(matrix.count);
    wait(queue,
         expand_factors(queue, matrix, weights.data(), columns.data(), 0x1p10, values.data()));
    ASSERT_EQ(bits_of(on_host(queue, values)), bits_of(expected));
  }
};

TEST_F(DeviceLowrank, ProductsAreTheSpecificationsForEveryPattern) {
  for (const Pattern pattern : kPatterns) {
    SCOPED_TRACE(static_cast<int>(pattern));
    compare({33, 67}, 4, pattern);
  }
}

TEST_F(DeviceLowrank, ProductsAreTheSpecificationsForEveryShape) {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{1, 33}, Shape{31, 1}, Shape{2, 16}, Shape{64, 32}, Shape{65, 31},
        Shape{130, 17}, Shape{9, 200}, Shape{20, 20, 13}, Shape{20, 20, 45}, Shape{70, 3, 1}}) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.cols));
    compare(shape, 2, Pattern::lognormal);
  }
}

TEST_F(DeviceLowrank, ProductsAreTheSpecificationsForEveryRank) {
  for (const std::uint32_t rank : {1u, 2u, 3u, 5u, 8u, 9u, 32u}) {
    SCOPED_TRACE(rank);
    compare({40, 50, 7}, rank, Pattern::normal);
  }
}

}  // namespace
}  // namespace tributary::TRIBUTARY_DEVICE
