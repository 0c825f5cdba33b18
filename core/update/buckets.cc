#include "core/update/buckets.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

// Collects layers into buckets in order. One bucket is open at a time.
class Planner {
 public:
  explicit Planner(std::uint64_t values_max) : values_max_(values_max) {}

  // Adds a layer that fits, in the open bucket if there is enough space left in it.
  void add_whole(std::uint64_t count) {
    if (open_ + count > values_max_) close();
    open_ += count;
  }

  // Distributes the steps of a layer evenly over its buckets; the last step may be incomplete.
  void add_split(std::uint64_t count) {
    close();
    const std::uint64_t steps = ceil_div(count, kBucketStep);
    const std::uint64_t pieces = ceil_div(steps, values_max_ / kBucketStep);
    std::uint64_t left = count;
    // The limit stops a hostile layer map from allocating more buckets than closed() would accept.
    for (std::uint64_t i = 0; i < pieces && buckets_.size() <= kBucketsMax; ++i) {
      const std::uint64_t piece_steps = steps / pieces + (i < steps % pieces ? 1 : 0);
      open_ = std::min(left, piece_steps * kBucketStep);
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
  if (options.values_max >= kBucketStep && options.values_max <= kValuesMaxMax) return {};
  return Status(StatusCode::invalid_argument,
                {.what = "largest bucket",
                 .expected = fmt::format("{} to {} values", kBucketStep, kValuesMaxMax),
                 .got = fmt::format("{}", options.values_max)});
}

}  // namespace

Result<std::vector<Bucket>> plan_buckets(const LayerMap& map, const BucketOptions& options) {
  TRIBUTARY_TRY(check_options(options));
  Planner planner(options.values_max);
  for (const Layer& layer : map.layers()) {
    if (layer.count <= options.values_max) {
      planner.add_whole(layer.count);
    } else {
      planner.add_split(layer.count);
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
