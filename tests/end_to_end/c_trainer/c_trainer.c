/* A small trainer in C, for tests. Its update follows from agent, round, value and model, and is
 * the same in every memory. The setting trainer.model_file says where it is: "host", "emulated" or
 * "cuda"; the last one needs a build with CUDA's runtime (C_TRAINER_CUDA).
 *
 * The array of an update on a device is used for every round and overwritten at the begin of the
 * next one, so that an agent that kept its address would send other values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef C_TRAINER_CUDA
#include <cuda_runtime_api.h>
#endif

#include "core/train/external/tributary_trainer.h"

#define EXPORT __attribute__((visibility("default")))

struct trainer {
  uint32_t memory;
  uint32_t agent; /* a hash of its id */
  uint64_t values;
  float* host;   /* the update before it is copied to the device */
  float* device; /* null: the update is in host memory */
};

static int fail(char* error, const char* text) {
  snprintf(error, TRIBUTARY_ERROR_BYTES, "%s", text);
  return 1;
}

static void release(struct trainer* trainer) {
  free(trainer->host);
#ifdef C_TRAINER_CUDA
  if (trainer->memory == TRIBUTARY_MEMORY_CUDA) cudaFree(trainer->device);
#endif
  if (trainer->memory == TRIBUTARY_MEMORY_EMULATED) free(trainer->device);
  trainer->host = trainer->device = NULL;
  trainer->values = 0;
}

/* Memory for an update of so many values. */
static int reserve(struct trainer* trainer, uint64_t values) {
  if (trainer->values == values) return 1;
  release(trainer);
  trainer->host = malloc(values * sizeof(float));
  if (trainer->memory == TRIBUTARY_MEMORY_EMULATED) {
    trainer->device = malloc(values * sizeof(float));
  }
#ifdef C_TRAINER_CUDA
  if (trainer->memory == TRIBUTARY_MEMORY_CUDA &&
      cudaMalloc((void**)&trainer->device, values * sizeof(float)) != cudaSuccess) {
    return 0;
  }
#endif
  trainer->values = values;
  return trainer->host != NULL && trainer->device != NULL;
}

static int copy_to_device(struct trainer* trainer) {
#ifdef C_TRAINER_CUDA
  if (trainer->memory == TRIBUTARY_MEMORY_CUDA) {
    return cudaMemcpy(trainer->device, trainer->host, trainer->values * sizeof(float),
                      cudaMemcpyHostToDevice) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess;
  }
#endif
  memcpy(trainer->device, trainer->host, trainer->values * sizeof(float));
  return 1;
}

static uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ x >> 16;
}

EXPORT uint32_t tributary_trainer_interface(void) { return TRIBUTARY_TRAINER_INTERFACE; }

EXPORT void* tributary_trainer_create(const struct tributary_trainer_options* options,
                                      char* error) {
  const char* const where = options->model_file;
  uint32_t memory = TRIBUTARY_MEMORY_HOST;
  if (strcmp(where, "emulated") == 0) memory = TRIBUTARY_MEMORY_EMULATED;
  if (strcmp(where, "cuda") == 0) memory = TRIBUTARY_MEMORY_CUDA;
  if ((options->memories & memory) == 0) {
    fail(error, "the agent does not encode on the device of trainer.model_file");
    return NULL;
  }
#ifndef C_TRAINER_CUDA
  if (memory == TRIBUTARY_MEMORY_CUDA) {
    fail(error, "this library was built without CUDA");
    return NULL;
  }
#endif
  struct trainer* const trainer = calloc(1, sizeof(*trainer));
  if (trainer == NULL) return NULL;
  trainer->memory = memory;
  for (const char* at = options->agent_id; *at != '\0'; ++at) {
    trainer->agent = mix(trainer->agent ^ (uint32_t)(unsigned char)*at);
  }
  return trainer;
}

EXPORT void tributary_trainer_destroy(void* trainer) {
  release(trainer);
  free(trainer);
}

EXPORT int tributary_trainer_prepare(void* trainer, const struct tributary_trainer_job* job,
                                     char* error) {
  (void)trainer;
  (void)error;
  return job->job == 0;
}

EXPORT int tributary_trainer_train(void* state, const struct tributary_trainer_order* order,
                                   struct tributary_trainer_update* update, char* error) {
  struct trainer* const trainer = state;
  float* values = update->values;
  if (trainer->memory != TRIBUTARY_MEMORY_HOST) {
    if (!reserve(trainer, order->values)) return fail(error, "no memory for the update");
    memset(trainer->host, 0x7f, order->values * sizeof(float));
    if (!copy_to_device(trainer)) return fail(error, "the copy to the device failed");
    values = trainer->host;
  }
  const uint32_t key = mix(trainer->agent ^ (uint32_t)(order->round * 0x9e3779b9u));
  for (uint64_t i = 0; i < order->values; ++i) {
    const int32_t seven_bits = (int32_t)(mix(key ^ (uint32_t)i) >> 25) - 64;
    values[i] = (float)seven_bits / 64.0f - order->model[i] / 8.0f;
  }
  update->loss = 1.0 / (double)(order->round + 1);
  update->examples = 1;
  if (trainer->memory == TRIBUTARY_MEMORY_HOST) return 0;
  if (!copy_to_device(trainer)) return fail(error, "the copy to the device failed");
  update->memory = trainer->memory;
  update->device_values = trainer->device;
  return 0;
}

EXPORT void tributary_trainer_cancel(void* trainer) { (void)trainer; }
