#include "core/update/buckets.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// Collects layers into buckets in order. One bucket is open at a time.
class BucketPlanner {
 public:
  explicit BucketPlanner(std::uint64_t values_max) : values_max_(values_max) {}

  // Adds a layer that fits, in the open bucket if there is enough space left in it.
  void add_whole(std::uint64_t count) {
    if (open_ + count > values_max_) close();
    open_ += count;
  }

  void add_alone(std::uint64_t count) {
    close();
    open_ = count;
    close();
  }

  // Distributes the steps of a layer evenly over buckets of at most `piece_max` values; the last
  // step may be incomplete.
  void add_split(std::uint64_t count, std::uint64_t step, std::uint64_t piece_max) {
    close();
    const std::uint64_t steps = ceil_div(count, step);
    const std::uint64_t pieces = ceil_div(steps, piece_max / step);
    std::uint64_t left = count;
    // The limit stops a hostile layer map from allocating more buckets than closed() would accept.
    for (std::uint64_t i = 0; i < pieces && buckets_.size() <= kBucketsMax; ++i) {
      const std::uint64_t piece_steps = steps / pieces + (i < steps % pieces ? 1 : 0);
      open_ = std::min(left, piece_steps * step);
      left -= open_;
      close();
    }
  }

  void close() {
    if (open_ == 0) return;
    buckets_.push_back({static_cast<std::uint32_t>(buckets_.size()), end_, open_});
    end_ += open_;
    open_ = 0;
  }

  std::vector<Bucket>& buckets() { return buckets_; }

 private:
  const std::uint64_t values_max_;
  std::vector<Bucket> buckets_;
  std::uint64_t end_ = 0;   // end of the closed buckets
  std::uint64_t open_ = 0;  // values of the open bucket
};

Status check_options(const BucketOptions& options) {
  constexpr std::uint64_t kValuesMaxMax = std::uint64_t{1} << 32;
  const std::uint64_t most = std::max(options.values_max, options.layer_values_max);
  if (options.values_max >= kBucketStep && most <= kValuesMaxMax) return {};
  return Status(StatusCode::invalid_argument,
                {.what = "largest bucket",
                 .expected = fmt::format("{} to {} values", kBucketStep, kValuesMaxMax),
                 .got = fmt::format("{}, and {} for a whole layer", options.values_max,
                                    options.layer_values_max)});
}

}  // namespace

std::uint64_t row_values(const Layer& layer) {
  const auto rows = std::ranges::find_if(layer.shape, [](std::uint64_t n) { return n != 1; });
  const bool vector = rows == layer.shape.end() || rows + 1 == layer.shape.end() || *rows == 0;
  return vector ? layer.count : layer.count / *rows;
}

std::uint64_t cut_step(const Layer& layer, std::uint64_t layer_values_max) {
  const std::uint64_t row = row_values(layer);
  return row == 0 || row == layer.count || row > layer_values_max ? kBucketStep : row;
}

Result<std::vector<Bucket>> plan_buckets(const LayerMap& map, const BucketOptions& options) {
  TRIBUTARY_TRY(check_options(options));
  BucketPlanner planner(options.values_max);
  const std::uint64_t whole_max = std::max(options.values_max, options.layer_values_max);
  for (const Layer& layer : map.layers()) {
    if (layer.count <= options.values_max) {
      planner.add_whole(layer.count);
    } else if (layer.count <= whole_max) {
      planner.add_alone(layer.count);
    } else {
      const bool rows = options.layer_values_max > 0;
      planner.add_split(layer.count, rows ? cut_step(layer, whole_max) : kBucketStep, whole_max);
    }
  }
  planner.close();
  if (planner.buckets().size() > kBucketsMax) {
    return Status(StatusCode::resource_exhausted,
                  {.what = fmt::format("buckets of at most {} values", options.values_max),
                   .expected = fmt::format("at most {} buckets", kBucketsMax),
                   .got = "more",
                   .remedy = "allow larger buckets"});
  }
  return std::move(planner.buckets());
}

}  // namespace tributary
