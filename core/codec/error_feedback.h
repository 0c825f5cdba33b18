// Error feedback: what a lossy encoding cut off is sent with the next update instead of being lost.
//
// An agent sends C(x + e). Once it knows the round's outcome, the new residual e is
//   (x + e) - D(C(x + e))   if its contribution was committed,
//   (x + e)                 if it was not: nothing of an excluded update is lost.
//
// A residual belongs to a coordinate of the update vector, not to a bucket, so it lives here in one
// flat array and calls name a place in it; a new bucketing touches nothing.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/bytes.h"

namespace tributary {

class ErrorFeedback {
 public:
  explicit ErrorFeedback(std::uint64_t values);

  // values += residual. What comes out is to be encoded, and kept until settled.
  void add_to(std::uint64_t offset, std::span<float> values) const;

  // `sent` is what add_to made of the update, `decoded` what this agent's own payload decodes to.
  void settle_committed(std::uint64_t offset, std::span<const float> sent,
                        std::span<const float> decoded);
  void settle_excluded(std::uint64_t offset, std::span<const float> sent);

  // A gradient's residual is in units of the learning rate that made it: factor = old / new.
  void rescale(float factor);

  std::span<float> slice(std::uint64_t offset, std::uint64_t count);
  std::span<const float> values() const { return residual_; }

 private:
  FloatVector residual_;
};

// residual = sent - decoded, the one line that all of this is about; for aggregators, which keep
// residuals too.
void keep_residual(std::span<const float> sent, std::span<const float> decoded,
                   std::span<float> residual);

// sum += values, element by element.
void add_values(std::span<const float> values, std::span<float> sum);

}  // namespace tributary
