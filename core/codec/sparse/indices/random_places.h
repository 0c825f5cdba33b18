// k different places of a bucket, each set of k equally likely: what randk sends.
#pragma once

#include "core/base/random.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// Ascending. The draws of the stream are taken in order; a draw is passed over if it would favour a
// place (Lemire's rejection) or names one that is taken. Of more than half of the bucket the places
// that stay out are drawn instead. The time follows the smaller part.
void draw_places(const Execution& execution, StreamKey key, std::size_t values, std::uint32_t k,
                 IndexVector& places);

}  // namespace tributary::sparse
