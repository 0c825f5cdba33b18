// Marks a per-element function that is compiled for the host and, by nvcc, also for the GPU. Such a
// function must not allocate, throw or use the library beyond what nvcc accepts in device code.
#pragma once

#ifdef __CUDACC__
#define TRIBUTARY_HD __host__ __device__
#else
#define TRIBUTARY_HD
#endif
