#include "core/run/frame_facts.h"

#include "core/store/coordinator/stored_frames.h"

namespace tributary {

JobDefinition job_definition(const SharedBytes& frame) {
  const wire::Job* const job = stored_job(frame);
  if (!job) return {};
  return {.name = stored_text(job->name()),
          .model = job->model() ? stored_text(job->model()->name()) : std::string(),
          .rounds_configured = job->rounds(),
          .parameters = parameters_of(*job)};
}

std::uint64_t parameters_of(const wire::Job& job) {
  std::uint64_t values = 0;
  if (!job.layer_map() || !job.layer_map()->layers()) return values;
  for (const wire::Layer* layer : *job.layer_map()->layers()) values += layer->values();
  return values;
}

std::vector<std::uint64_t> exchange_values(const wire::Plan& plan) {
  std::vector<std::uint64_t> values(plan.exchanges() ? plan.exchanges()->size() : 0);
  if (!plan.buckets()) return values;
  for (const wire::Bucket* bucket : *plan.buckets()) {
    if (bucket->exchange() < values.size()) values[bucket->exchange()] += bucket->values();
  }
  return values;
}

double planned_ratio(const wire::Plan& plan, const wire::Exchange& exchange) {
  const wire::Alternative* const chosen = stored_choice(plan);
  const bool same = chosen && chosen->codec() && exchange.codec() &&
                    chosen->codec()->string_view() == exchange.codec()->string_view();
  return same && exchange.ratio() == 1 ? chosen->ratio() : exchange.ratio();
}

}  // namespace tributary
