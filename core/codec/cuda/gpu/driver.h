// The functions of NVIDIA's driver, found at run time, so that one program runs on machines with
// and without a driver.
//
// No header and no library of CUDA is needed to compile or link this. The first call loads
// libcuda.so.1; it stays loaded. All functions are thread-safe. The device is the driver's first
// one, with its primary context, which CUDA's runtime in a trainer's library uses as well.
#pragma once

#include <cstddef>

#include "core/base/status.h"

// Types of the driver's interface, which has pointers to them only.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUstream_st;

namespace tributary::cuda {

// The driver's CUresult: 0 is success.
using DriverResult = int;
inline constexpr DriverResult kSuccess = 0;
inline constexpr DriverResult kOutOfMemory = 2;

// The driver's CUdeviceptr.
using DeviceAddress = unsigned long long;

inline DeviceAddress address_of(const void* device) {
  return static_cast<DeviceAddress>(reinterpret_cast<std::size_t>(device));
}

// Flags and attributes, with the driver's numbers.
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr int kCaptureModeThreadLocal = 1;
enum class Attribute : int {
  multiprocessors = 16,
  l2_cache_bytes = 38,
  capability_major = 75,
  capability_minor = 76,
};

// The functions have the driver's signatures.
struct Driver {
  DriverResult (*init)(unsigned flags);
  DriverResult (*version)(int* version);
  DriverResult (*error_text)(DriverResult error, const char** text);
  DriverResult (*device_count)(int* count);
  DriverResult (*device)(int* device, int ordinal);
  DriverResult (*device_name)(char* name, int bytes, int device);
  DriverResult (*memory_bytes)(std::size_t* bytes, int device);
  DriverResult (*attribute)(int* value, Attribute attribute, int device);
  DriverResult (*retain_context)(CUctx_st** context, int device);
  DriverResult (*use_context)(CUctx_st* context);
  DriverResult (*allocate)(DeviceAddress* memory, std::size_t bytes);
  DriverResult (*free)(DeviceAddress memory);
  DriverResult (*allocate_pinned)(void** memory, std::size_t bytes, unsigned flags);
  DriverResult (*free_pinned)(void* memory);
  DriverResult (*copy_to_device)(DeviceAddress to, const void* from, std::size_t bytes,
                                 CUstream_st* stream);
  DriverResult (*copy_to_host)(void* to, DeviceAddress from, std::size_t bytes,
                               CUstream_st* stream);
  DriverResult (*copy_on_device)(DeviceAddress to, DeviceAddress from, std::size_t bytes,
                                 CUstream_st* stream);
  DriverResult (*make_stream)(CUstream_st** stream, unsigned flags);
  DriverResult (*destroy_stream)(CUstream_st* stream);
  DriverResult (*wait_for_stream)(CUstream_st* stream);
  DriverResult (*make_event)(CUevent_st** event, unsigned flags);
  DriverResult (*destroy_event)(CUevent_st* event);
  DriverResult (*record_event)(CUevent_st* event, CUstream_st* stream);
  DriverResult (*wait_for_event)(CUevent_st* event);
  DriverResult (*elapsed_ms)(float* ms, CUevent_st* begin, CUevent_st* end);
  DriverResult (*load_module)(CUmod_st** module, const void* image);
  DriverResult (*function)(CUfunc_st** function, CUmod_st* module, const char* name);
  DriverResult (*launch)(CUfunc_st* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, CUstream_st* stream, void** arguments,
                         void** extra);
  DriverResult (*begin_capture)(CUstream_st* stream, int mode);
  DriverResult (*end_capture)(CUstream_st* stream, CUgraph_st** graph);
  DriverResult (*instantiate)(CUgraphExec_st** executable, CUgraph_st* graph,
                              unsigned long long flags);
  DriverResult (*launch_graph)(CUgraphExec_st* executable, CUstream_st* stream);
  DriverResult (*destroy_graph)(CUgraph_st* graph);
  DriverResult (*destroy_executable)(CUgraphExec_st* executable);
};

// The GPU that this process uses.
struct Gpu {
  Driver driver{};
  int driver_version = 0;  // CUDA 12.6 is 12060
  int device = 0;
  int capability = 0;  // compute capability 8.7 is 87
  CUctx_st* context = nullptr;
};

// Returns the GPU, with its context as the current one of the calling thread. unavailable: no
// driver, one older than this build's device code, no GPU, or one older than compute capability
// 8.0. The process finds out once.
Result<const Gpu*> use_gpu();

// The GPU if an earlier use_gpu() of the process has found one; otherwise null.
const Gpu* gpu_in_use();

}  // namespace tributary::cuda
