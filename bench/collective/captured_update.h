// Updates from gradients that were captured while models were trained. Codecs that use the
// optimizer's state cannot be measured with synthetic values. Each bucket has one capture, repeated
// to fill the bucket; the next bucket has the next capture.
//
// Used by one thread. Holds all captures in memory, each as long as a bucket.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/codec/optimizer_view.h"

namespace tributary::bench {

class CapturedUpdate {
 public:
  // `folder` was written by bench/gradients/capture.py. Fails with not_found if it contains no
  // captures.
  static Result<CapturedUpdate> make(const std::string& folder, std::uint32_t bucket_values);

  // The update of a rank. A capture comes from one device; each rank multiplies every value by a
  // random factor between 0.5 and 1.5, so ranks differ.
  FloatVector gradient(std::uint32_t rank, std::size_t values) const;

  // The optimizer's state for a bucket. Valid as long as this object lives.
  const OptimizerView* view(std::uint32_t bucket, std::uint32_t values);

 private:
  struct Tile {
    FloatVector gradient, parameters, first_moment, second_moment;
    OptimizerView view;  // for a whole bucket
  };

  std::uint32_t bucket_values_ = 0;
  std::vector<Tile> tiles_;
  std::map<std::uint32_t, OptimizerView> views_;  // for buckets that were requested
};

}  // namespace tributary::bench
