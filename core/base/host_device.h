// Marks a per-element function that is compiled for the host and, by nvcc, also for the GPU.
#pragma once

#ifdef __CUDACC__
#define TRIBUTARY_HD __host__ __device__
#else
#define TRIBUTARY_HD
#endif
