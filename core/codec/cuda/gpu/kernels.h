// The kernels in this program, and the device code of their files.
//
// A compiler for CUDA registers both before main() runs. A file's device code is loaded for the GPU
// when its first kernel is started. All functions are thread-safe.
#pragma once

#include "core/base/status.h"
#include "core/codec/cuda/device.h"
#include "core/codec/cuda/gpu/driver.h"

namespace tributary::cuda {

// Loads the device code of all files. unsupported: some file has no code for this GPU.
Status load_kernels(const Gpu& gpu);

// The function of the driver for a kernel, by the address that host code has for it.
Result<CUfunc_st*> kernel_function(const Gpu& gpu, const void* kernel);

// Starts such a kernel, with the addresses of its arguments. The name in `shape` is added to the
// calls that wait() names.
Status start(const void* kernel, const LaunchShape& shape, void** arguments);

}  // namespace tributary::cuda
