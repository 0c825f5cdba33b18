// A job definition for tests of evaluations, in the form that the journal stores.
#pragma once

#include <cstdint>
#include <string>

#include "core/job/job_settings.h"
#include "core/round/common/plan/job_model.h"

namespace tributary::evaluator_testing {

// The parts of the job that tests vary.
struct EvaluatedJob {
  std::string loss = "cross_entropy";
  std::uint64_t rounds = 3;
  std::uint32_t evaluate_every = 0;
};

inline SharedBytes definition(const EvaluatedJob& evaluated) {
  JobSettings job;
  job.name = "job";
  job.rounds = evaluated.rounds;
  job.parameters = 1;
  job.loss = evaluated.loss;
  job.evaluate_every = evaluated.evaluate_every;
  wire::JobT made = submission(job).value().definition;
  made.job = 5;
  made.revision = 1;
  made.state = wire::JobState::running;
  return keep_message(std::move(made)).value();
}

}  // namespace tributary::evaluator_testing
