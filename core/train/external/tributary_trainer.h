// The C interface of a trainer in a library of its own, for any language with a C calling
// convention.
//
// An agent with `trainer.name = "external"` loads the library that `trainer.library` names. It
// calls the functions at the end of this file, which the library exports, from one thread at a
// time; tributary_trainer_cancel() may come from any thread. Strings end with a zero byte, and are
// valid until the function returns, as all pointers are. A function that fails writes a text for
// the operator to `error`, which has TRIBUTARY_ERROR_BYTES.
//
// Versions: tributary_trainer_interface() returns the version that the library was compiled with.
// An agent takes every version from 1 to its own. A newer version only adds fields to the ends of
// structures and functions that a library may leave out. A structure's `bytes` is its size as the
// agent knows it; a library compiled with a newer header reads no field beyond it.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Version 1: an update in host memory. Version 2: also one in the memory of a device.
#define TRIBUTARY_TRAINER_INTERFACE 2u
#define TRIBUTARY_ERROR_BYTES 512u

// Where an update is. The values are bits of `memories`.
#define TRIBUTARY_MEMORY_HOST 1u
#define TRIBUTARY_MEMORY_CUDA 2u  // cudaMalloc() on the current device, or managed memory
#define TRIBUTARY_MEMORY_EMULATED \
  4u  // of the emulated device, for tests: any memory of the process

struct tributary_trainer_options {
  uint32_t bytes;
  uint32_t threads;  // of one operation; 0: the trainer decides
  const char* agent_id;
  const char* model_file;  // the setting trainer.model_file
  const char* data_path;   // the setting data.path
  uint32_t shard;          // index among `shards` parts of one data set
  uint32_t shards;
  uint32_t memories;  // since version 2: where the agent takes an update from
};

struct tributary_trainer_job {
  uint32_t bytes;
  uint32_t revision;
  uint64_t job;
  uint64_t seed;
  uint32_t gradient;  // 1: updates are gradients; 0: they are differences of models
  uint32_t batch_size;
  const char* model;  // the job's name of the model
  const char* loss;
};

struct tributary_trainer_order {
  uint32_t bytes;
  uint32_t local_steps;
  uint64_t round;
  uint64_t seed;
  double learning_rate;
  const float* model;  // in host memory
  uint64_t values;     // of the model, and of the update
};

struct tributary_trainer_update {
  uint32_t bytes;
  uint32_t local_steps;  // as many as were done; the agent sets it to those of the order
  float* values;         // host memory for the update, not initialised
  double loss;           // mean over the steps
  uint64_t examples;
  // Since version 2. The agent sets memory to TRIBUTARY_MEMORY_HOST. A trainer whose update is on a
  // device sets it to that memory, and device_values to the update; it then writes no `values`. All
  // work on the update must be finished when train() returns. The agent copies the update within
  // the device before it calls the library again, and keeps no pointer.
  const float* device_values;
  uint32_t memory;
};

// The version of this interface, TRIBUTARY_TRAINER_INTERFACE.
uint32_t tributary_trainer_interface(void);
// Returns the trainer's state for all other calls; null: it failed.
void* tributary_trainer_create(const struct tributary_trainer_options* options, char* error);
void tributary_trainer_destroy(void* trainer);
// Called before the first training of a job and after a change of it. Returns 0, or 1: it failed.
int tributary_trainer_prepare(void* trainer, const struct tributary_trainer_job* job, char* error);
// Computes an update. Returns 0, 1: it failed, or 2: cancelled.
int tributary_trainer_train(void* trainer, const struct tributary_trainer_order* order,
                            struct tributary_trainer_update* update, char* error);
// Makes the running training return 2 soon, and every later one at once. A library may leave this
// function out; the agent then waits for the end of a training before it stops.
void tributary_trainer_cancel(void* trainer);

#ifdef __cplusplus
}
#endif
