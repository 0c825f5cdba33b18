// Marks a per-element function that runs on the host and, compiled by nvcc, on the GPU too.
#pragma once

#ifdef __CUDACC__
#define TRIBUTARY_HD __host__ __device__
#else
#define TRIBUTARY_HD
#endif
