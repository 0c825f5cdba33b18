#include "core/codec/cuda/scan.h"

#include "core/codec/cuda/block.h"

namespace tributary::TRIBUTARY_DEVICE {
namespace {

__global__ void scan_counts(const std::uint32_t* counts, std::uint32_t n, std::uint32_t* before) {
  std::uint32_t total = 0;
  for (std::uint32_t begin = 0; begin < n; begin += kThreads) {
    const std::uint32_t i = begin + threadIdx.x;
    const BlockScan scan = block_scan(i < n ? counts[i] : 0);
    if (i < n) before[i] = total + scan.before;
    total += scan.total;
  }
  if (threadIdx.x == 0) before[n] = total;
}

}  // namespace

Status exclusive_scan(const Queue& queue, const std::uint32_t* counts, std::uint32_t n,
                      std::uint32_t* before) {
  return launch(scan_counts, shape_for(queue, "scan_counts", 1, 1), counts, n, before);
}

}  // namespace tributary::TRIBUTARY_DEVICE
