// Selects the values of a bucket to send, on a device: the indices and values that
// sparse::Selector (core/codec/sparse/select.h) returns on the host.
//
// A selection needs two passes over the values: a histogram of the upper bits of the magnitudes,
// and a pass that collects the candidates of each tile of values. All other work is on the
// candidates. A bisection and a fixed threshold differ as stated below. No result depends on the
// order in which blocks run.
//
// Requirements: all pointers are to memory of the device; x is aligned to 16 bytes. n is at most
// 2^31. The functions only start the work in the queue, and a graph can repeat it.
#pragma once

#include <cstdint>

#include "core/codec/cuda/device.h"
#include "core/codec/cuda/workspace.h"
#include "core/codec/sparse/elements.h"

namespace tributary::TRIBUTARY_DEVICE {

// The upper bits of the magnitude of a rank, and the number of values above all with these bits.
struct RankedPrefix {
  std::uint32_t prefix;
  std::uint32_t above;
};

// The state that the kernels of a selection pass on, and its result.
struct SelectionState {
  std::uint32_t selected;  // the number of selected values
  std::uint32_t largest;   // largest magnitude; kInfinityBits or more: NaN or Inf
  // After the first, the first two and all three digits of the magnitude.
  RankedPrefix first;
  RankedPrefix second;
  RankedPrefix third;
  std::uint32_t inverted_next;  // inverted: the smallest magnitude above that of the rank
  // Values of high_min or more are selected, and by ascending index as many as needed from low_min.
  std::uint32_t low_min;
  std::uint32_t high_min;
  std::uint32_t reach_high;  // number of values of high_min or more
};

// Working memory for selections from up to n values, 6 bytes for each. One selection at a time.
struct SelectionMemory {
  SelectionState* state;
  std::uint32_t* histograms;  // of the three digits
  // The candidates of a tile: their bits, their offsets in the tile, and their number.
  std::uint32_t* bits;
  std::uint16_t* offsets;
  std::uint32_t* counts;
  // The values of each tile to select, first their number, then the number in the tiles before.
  std::uint32_t* high;
  std::uint32_t* low;
};
// The workspace owns the memory.
Result<SelectionMemory> selection_memory(Workspace& space, std::uint32_t n);

// Where selected values are written, in ascending order of the index.
struct Selected {
  std::uint32_t* indices;
  float* values;
};

// Selects the k largest magnitudes, ties to the lower index; all values if k > n. Requires k > 0
// unless n = 0. `out` has min(k, n) elements.
Status select_top(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                  const SelectionMemory& memory, const Selected& out);

// Selects k values by MS-Topk's bisection. The decisions of a bisection follow from the magnitudes
// of the ranks k and k + 1, so no pass counts values for one of them. Reads the values three times.
Status select_bisected(const Queue& queue, const float* x, std::uint32_t n, std::uint32_t k,
                       unsigned bisections, const SelectionMemory& memory, const Selected& out);

// Selects all values that are not zero and reach *magnitude_min. Reads the values once. `out` has n
// elements.
Status select_at_least(const Queue& queue, const float* x, std::uint32_t n,
                       const std::uint32_t* magnitude_min, const SelectionMemory& memory,
                       const Selected& out);

// Selects the k largest of them, if there are more. Requires k > 0.
Status select_at_least_up_to(const Queue& queue, const float* x, std::uint32_t n,
                             const std::uint32_t* magnitude_min, std::uint32_t k,
                             const SelectionMemory& memory, const Selected& out);

using sparse::SampledRank;

// Sets *magnitude to the magnitude of the rank. `values` has sample.count elements, aligned to 16
// bytes. Requires 0 < sample.count <= n.
Status sampled_magnitude(const Queue& queue, const float* x, std::uint32_t n,
                         const SampledRank& sample, const SelectionMemory& memory, float* values,
                         std::uint32_t* magnitude);

}  // namespace tributary::TRIBUTARY_DEVICE
