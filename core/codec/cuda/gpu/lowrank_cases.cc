#include "core/codec/cuda/gpu/lowrank_cases.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "core/codec/cuda/lowrank/lowrank.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/lowrank/algebra.h"

namespace tributary::cuda {
namespace {

using lowrank::DoubleVector;
using lowrank::MatrixView;

// The codec's default.
constexpr std::uint32_t kRank = 4;
// Keeps all products within float32.
constexpr double kScale = 0x1p-12;

// A square matrix on the device, and what the scalar specification makes of it.
class Product {
 public:
  static Result<std::shared_ptr<Product>> make(const FloatVector& update) {
    TRIBUTARY_ASSIGN(Workspace space, Workspaces().take());
    auto product = std::shared_ptr<Product>(new Product(update, std::move(space)));
    product->specify(update);
    TRIBUTARY_TRY(product->upload(update));
    return product;
  }

  Status rows(const Queue& queue) const {
    return multiply_rows(queue, matrix_, right_, kScale, products_, squares_);
  }
  Status columns(const Queue& queue) const {
    return multiply_columns(queue, matrix_, left_, sums_);
  }
  // The work of an encoder in both stages.
  Status encode(const Queue& queue) const {
    TRIBUTARY_TRY(rows(queue));
    return columns(queue);
  }
  Status decode(const Queue& queue) const {
    return expand_factors(queue, matrix_, left_, right_, kScale, back_);
  }

  Status check_encoding(const Queue& queue) const {
    TRIBUTARY_TRY(compare(queue, products_, specified_products_, "the left factor"));
    return compare(queue, sums_, specified_sums_, "the right factor");
  }
  Status check_decoding(const Queue& queue) const {
    return compare(queue, back_, specified_back_, "the decoded values");
  }
  Status check_rows(const Queue& queue) const {
    return compare(queue, products_, specified_products_, "the left factor");
  }
  Status check_columns(const Queue& queue) const {
    return compare(queue, sums_, specified_sums_, "the right factor");
  }

 private:
  Product(const FloatVector& update, Workspace space) : space_(std::move(space)) {
    const auto n = static_cast<std::uint32_t>(update.size());
    const auto side = static_cast<std::uint32_t>(std::ceil(std::sqrt(update.size())));
    matrix_ = {.values = nullptr, .count = n, .rows = side, .cols = side, .rank = kRank};
    // Any values of the size of an encoder's do.
    host_left_.assign(update.begin(), update.begin() + std::ptrdiff_t{kRank} * side);
    host_right_.assign(update.end() - std::ptrdiff_t{kRank} * side, update.end());
  }

  void specify(const FloatVector& update) {
    const Execution scalar = {.backend = Backend::scalar};
    const MatrixView view = {.values = update, .rows = matrix_.rows, .cols = matrix_.cols};
    specified_products_.resize(host_left_.size());
    static_cast<void>(lowrank::multiply(scalar, view, host_right_, kScale, specified_products_));
    lowrank::multiply_transposed(scalar, view, host_left_, specified_sums_);
    specified_back_.resize(update.size());
    lowrank::expand(scalar, matrix_.rows, matrix_.cols, host_left_, host_right_, kScale,
                    specified_back_);
  }

  Status upload(const FloatVector& update) {
    TRIBUTARY_ASSIGN(matrix_.values, space_.upload(std::span(update)));
    TRIBUTARY_ASSIGN(left_, space_.upload(std::span<const float>(host_left_)));
    TRIBUTARY_ASSIGN(right_, space_.upload(std::span<const float>(host_right_)));
    TRIBUTARY_ASSIGN(products_, space_.array<float>(specified_products_.size()));
    TRIBUTARY_ASSIGN(squares_, space_.array<double>(matrix_.rows));
    TRIBUTARY_ASSIGN(sums_, space_.array<double>(specified_sums_.size()));
    TRIBUTARY_ASSIGN(back_, space_.array<float>(update.size()));
    return space_.wait();
  }

  template <typename T>
  static Status compare(const Queue& queue, const T* device, const RawVector<T>& specified,
                        const char* what) {
    RawVector<T> got(specified.size());
    TRIBUTARY_TRY(copy_to_host(queue, device, got.size() * sizeof(T), got.data()));
    TRIBUTARY_TRY(queue.wait());
    return same_as_specified(std::memcmp(got.data(), specified.data(), got.size() * sizeof(T)) == 0,
                             what);
  }

  Workspace space_;
  DeviceMatrix matrix_ = {};
  FloatVector host_left_;
  FloatVector host_right_;
  FloatVector specified_products_;
  DoubleVector specified_sums_;
  FloatVector specified_back_;
  const float* left_ = nullptr;
  const float* right_ = nullptr;
  float* products_ = nullptr;
  double* squares_ = nullptr;
  double* sums_ = nullptr;
  float* back_ = nullptr;
};

}  // namespace

Result<std::vector<DeviceCase>> lowrank_cases(const FloatVector& update) {
  TRIBUTARY_ASSIGN(const auto product, Product::make(update));
  const std::uint64_t bytes = update.size() * sizeof(float);
  std::vector<DeviceCase> cases;
  add_cases("powersgd", "", bytes, product, cases);
  cases.push_back({.name = "powersgd left factor",
                   .float_bytes = bytes,
                   .start = [product](const Queue& queue) { return product->rows(queue); },
                   .check = [product](const Queue& queue) { return product->check_rows(queue); }});
  cases.push_back(
      {.name = "powersgd right factor",
       .float_bytes = bytes,
       .start = [product](const Queue& queue) { return product->columns(queue); },
       .check = [product](const Queue& queue) { return product->check_columns(queue); }});
  return cases;
}

}  // namespace tributary::cuda
