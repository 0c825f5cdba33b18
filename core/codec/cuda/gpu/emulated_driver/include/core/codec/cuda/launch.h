// Takes the place of core/codec/cuda/launch.h in the emulated driver: the kernels have the names of
// a GPU's, run as those of the emulated device, and are started by the driver's interface.
//
// launch() is compiled for its types only. It registers how a kernel with such parameters is
// called.
#pragma once

#include <cstddef>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "core/codec/cuda/device.h"

namespace tributary::emulated {
using cuda::LaunchShape;  // grid.h declares with it what is not called here
}  // namespace tributary::emulated

#include "core/codec/cuda/emulated/language.h"

// The driver finds a kernel by its name, so each has one body.
#undef __global__
#define __global__ __attribute__((used, noinline))

namespace tributary::emulated_driver {

using Call = void (*)(const void* kernel, void** arguments);
void add_call(const std::type_info& function, Call call);

template <typename... Parameters>
struct Calls {
  template <std::size_t... kIndices>
  static void call_with(void (*kernel)(Parameters...), [[maybe_unused]] void** arguments,
                        std::index_sequence<kIndices...>) {
    kernel(*static_cast<Parameters*>(arguments[kIndices])...);
  }
  static void call(const void* kernel, void** arguments) {
    call_with(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(kernel)), arguments,
              std::index_sequence_for<Parameters...>());
  }
  static inline const bool kAdded = [] {
    add_call(typeid(void(Parameters...)), &call);
    return true;
  }();
};

}  // namespace tributary::emulated_driver

namespace tributary::cuda {

template <typename... Parameters>
Status launch(void (*)(Parameters...), const LaunchShape&, std::type_identity_t<Parameters>...) {
  static_cast<void>(emulated_driver::Calls<Parameters...>::kAdded);
  return {};
}

}  // namespace tributary::cuda
