// Draws k distinct indices of a bucket, for the codec randk. Every set of k indices is equally
// likely.
//
// All members of a round draw the same indices from the plan's seed, so they are never sent. The
// scratch memory is one bit per value of the bucket.
#pragma once

#include "core/base/random.h"
#include "core/codec/sparse/indices/indices.h"

namespace tributary::sparse {

// Writes the indices in ascending order. The draws of the stream are used in order. A draw is
// skipped if it would favour an index (Lemire's rejection) or if its index is already taken. If k
// is more than half of the values, the excluded indices are drawn instead. The time is proportional
// to the smaller of both sets. Requires k <= values.
void draw_places(const Execution& execution, StreamKey key, std::size_t values, std::uint32_t k,
                 IndexVector& places);

}  // namespace tributary::sparse
