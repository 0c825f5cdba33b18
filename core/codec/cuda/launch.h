// Starts a kernel: on a GPU in what a compiler for CUDA compiles, on the CPU in what a host
// compiler compiles.
//
// Only the .cu files and their tests include it. The kernels are plain CUDA C++; the one rule is
// that launch() starts them. Both compilers read the same text.
#pragma once

#include <type_traits>

#include "core/codec/cuda/device.h"
#ifdef __CUDACC__
#include <cuda_runtime.h>  // CUDA's language; nothing of the runtime is linked

#include "core/codec/cuda/gpu/kernels.h"
#else
#include "core/codec/cuda/emulated/language.h"
#include "core/codec/cuda/emulated/stream.h"
#endif

namespace tributary::TRIBUTARY_DEVICE {

#ifdef __CUDACC__
template <typename... Parameters>
Status launch(void (*kernel)(Parameters...), const LaunchShape& shape,
              std::type_identity_t<Parameters>... arguments) {
  void* addresses[] = {&arguments...};
  return start(reinterpret_cast<const void*>(kernel), shape, addresses);
}
#else
template <typename... Parameters>
Status launch(void (*kernel)(Parameters...), const LaunchShape& shape,
              std::type_identity_t<Parameters>... arguments) {
  auto call = [=] { kernel(arguments...); };
  using Call = decltype(call);
  const auto call_it = [](const void* what) { (*static_cast<const Call*>(what))(); };
  // Without a stream a kernel is complete when the function returns.
  if (shape.stream == nullptr) return run_grid(shape, call_it, &call);
  TRIBUTARY_TRY(check_launch(shape));
  shape.stream->add([shape, call, call_it] { return run_checked_grid(shape, call_it, &call); });
  return {};
}
#endif

}  // namespace tributary::TRIBUTARY_DEVICE
