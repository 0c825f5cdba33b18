// What the outside sees of the coordinator.
#include <algorithm>
#include <utility>

#include "core/base/checksum.h"
#include "core/round/coordinator_impl.h"

namespace tributary {

Coordinator::Coordinator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Coordinator::~Coordinator() = default;

Result<std::unique_ptr<Coordinator>> Coordinator::make(CoordinatorConfig config,
                                                       CoordinatorState state) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRIBUTARY_TRY(impl->restore(std::move(state)));
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(impl)));
}

Actions Coordinator::handle(TimeNs now, const Event& event) { return impl_->handle(now, event); }
TimeNs Coordinator::next_wakeup_ns() const { return impl_->next_wakeup_ns(); }

bool Coordinator::idle() const {
  const bool asked = std::ranges::any_of(impl_->desk_.roster.all(), [](const auto& item) {
    return !item.second->leaving && item.second->conversation.unanswered() > 0;
  });
  return !asked && impl_->desk_.store.empty();
}

std::vector<Coordinator::AgentView> Coordinator::agents() const {
  std::vector<AgentView> views;
  for (const auto& [number, session] : impl_->desk_.roster.all()) {
    views.push_back({.agent_id = session->agent_id,
                     .incarnation = session->incarnation,
                     .ready = impl_->run_ && impl_->run_->ready(*session),
                     .model_version = session->version,
                     .heard_at_ns = session->conversation.heard_at_ns()});
  }
  std::ranges::sort(views, {}, &AgentView::agent_id);
  return views;
}

SharedBytes Coordinator::definition() const {
  return impl_->run_ ? impl_->run_->record().definition : nullptr;
}

std::vector<Coordinator::JobView> Coordinator::jobs() const {
  std::vector<JobView> views = impl_->done_;
  const auto add = [&](const JobRecord& record, const std::string& name, std::uint64_t rounds,
                       std::uint64_t committed) {
    views.push_back({.job = record.job,
                     .name = name,
                     .state = record.state,
                     .rounds = rounds,
                     .rounds_committed = committed});
  };
  if (const JobRun* run = impl_->run_.get()) {
    const wire::Job& job = run->model_of_job().wire();
    add(run->record(), job.name()->str(), job.rounds(), run->version());
  }
  for (const RestoredJob& waiting : impl_->waiting_) {
    const Result<std::shared_ptr<const JobModel>> job = JobModel::make(waiting.job.definition);
    if (!job.ok()) continue;
    add(waiting.job, (*job)->wire().name()->str(), (*job)->wire().rounds(),
        waiting.checkpoint.model_version);
  }
  return views;
}

RoundKey Coordinator::current_round() const {
  return impl_->run_ ? impl_->run_->current_round() : RoundKey{};
}
std::uint64_t Coordinator::model_version() const {
  return impl_->run_ ? impl_->run_->version() : 0;
}
std::uint64_t Coordinator::model_hash() const {
  return impl_->run_ ? impl_->run_->model_hash() : 0;
}
SharedFloats Coordinator::model() const { return impl_->run_ ? impl_->run_->model() : nullptr; }
SharedFloats Coordinator::aggregator_residual() const {
  return impl_->run_ ? impl_->run_->aggregator_residual() : nullptr;
}
std::uint64_t Coordinator::incoming_bytes() const {
  return impl_->run_ ? impl_->run_->incoming_bytes() : 0;
}

std::uint64_t Coordinator::buffered_bytes() const {
  return impl_->run_ ? impl_->run_->buffered_bytes() : 0;
}

std::uint64_t Coordinator::state_hash() const {
  Checksum checksum;
  const auto add = [&](const auto& value) {
    checksum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
  };
  for (const AgentView& view : agents()) {
    checksum.update(bytes_of(view.agent_id));
    add(view.incarnation);
    add(view.model_version);
    add(view.ready);
  }
  const RoundKey round = current_round();
  add(round.round);
  add(round.epoch);
  add(round.attempt);
  add(model_version());
  const std::uint64_t hash = model_hash();
  add(hash);
  if (const SharedFloats residual = aggregator_residual()) {
    checksum.update(bytes_of(std::span<const float>(*residual)));
  }
  return checksum.finish64();
}

}  // namespace tributary
