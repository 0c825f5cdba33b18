// Updates of gradients that were captured while models learned, for codecs that look at the
// optimizer: what made-up values cannot be measured with. One bucket has one capture, repeated
// until the bucket is full, and the next bucket has the next one.
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
  // `folder` is one that bench/gradients/capture.py has written.
  static Result<CapturedUpdate> make(const std::string& folder, std::uint32_t bucket_values);

  // A capture is of one device. The others' values are its own, each times something between 0.5
  // and 1.5, and never the same twice.
  FloatVector gradient(std::uint32_t rank, std::size_t values) const;

  // Valid as long as this lives.
  const OptimizerView* view(std::uint32_t bucket, std::uint32_t values);

 private:
  struct Tile {
    FloatVector gradient, parameters, first_moment, second_moment;
    OptimizerView view;  // of a whole bucket
  };

  std::uint32_t bucket_values_ = 0;
  std::vector<Tile> tiles_;
  std::map<std::uint32_t, OptimizerView> views_;  // of the buckets asked for
};

}  // namespace tributary::bench
