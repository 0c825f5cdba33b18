/* A trainer of the version VERSION, for the test of the interface. Its update is the model plus the
 * round; it knows the fields of version 1 only. */
#include <stdio.h>
#include <string.h>

#include "core/train/external/tributary_trainer.h"

#define EXPORT __attribute__((visibility("default")))

static int trainer;

EXPORT uint32_t tributary_trainer_interface(void) { return VERSION; }

EXPORT void* tributary_trainer_create(const struct tributary_trainer_options* options,
                                      char* error) {
  if (strcmp(options->model_file, "refuse") != 0) return &trainer;
  snprintf(error, TRIBUTARY_ERROR_BYTES, "refused for %s", options->agent_id);
  return NULL;
}

EXPORT void tributary_trainer_destroy(void* state) { (void)state; }

EXPORT int tributary_trainer_prepare(void* state, const struct tributary_trainer_job* job,
                                     char* error) {
  (void)state;
  (void)error;
  return job->batch_size == 0;
}

#ifndef WITHOUT_TRAIN
EXPORT int tributary_trainer_train(void* state, const struct tributary_trainer_order* order,
                                   struct tributary_trainer_update* update, char* error) {
  (void)state;
  if (order->round == 99) return 2;
  if (order->round == 98) {
    memset(error, 'x', TRIBUTARY_ERROR_BYTES);
    return 1;
  }
  for (uint64_t i = 0; i < order->values; ++i) {
    update->values[i] = order->model[i] + (float)order->round;
  }
  update->loss = 0.5;
  update->examples = 7;
  return 0;
}
#endif
