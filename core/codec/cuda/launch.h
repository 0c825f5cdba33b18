// Starts a kernel: on a GPU in what nvcc compiles, on the CPU in what a host compiler compiles.
//
// Only the .cu files and their tests include it. The kernels are plain CUDA C++; the one rule is
// that launch() starts them. Both compilers read the same text.
#pragma once

#include <type_traits>

#include "core/codec/cuda/device.h"
#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "core/codec/cuda/emulated/language.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {

#ifdef __CUDACC__
// Returns the error of the last start. `kernel` is added to the calls that wait() names.
Status started(const char* kernel, Stream stream);

template <typename... Parameters>
Status launch(void (*kernel)(Parameters...), const LaunchShape& shape,
              std::type_identity_t<Parameters>... arguments) {
  kernel<<<shape.grid, shape.threads, 0, shape.stream>>>(arguments...);
  return started(shape.kernel, shape.stream);
}
#else
template <typename... Parameters>
Status launch(void (*kernel)(Parameters...), const LaunchShape& shape,
              std::type_identity_t<Parameters>... arguments) {
  const auto call = [&] { kernel(arguments...); };
  return run_grid(
      shape, [](const void* what) { (*static_cast<decltype(&call)>(what))(); }, &call);
}
#endif

}  // namespace tributary::TRIBUTARY_DEVICE
