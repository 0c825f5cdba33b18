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
                     .ready = impl_->run_of(*session) && impl_->run_of(*session)->ready(*session),
                     .job = session->run,
                     .model_version = session->version,
                     .heard_at_ns = session->conversation.heard_at_ns(),
                     .payload_bytes = session->payload_bytes_in +
                                      session->conversation.payload_bytes_out() -
                                      session->padding_bytes_out});
  }
  std::ranges::sort(views, {}, &AgentView::agent_id);
  return views;
}

std::vector<Coordinator::JobView> Coordinator::jobs() const {
  std::vector<JobView> views = impl_->done_;
  for (const auto& run : impl_->runs_) views.push_back(run->view());
  return views;
}

RoundKey Coordinator::current_round() const {
  const JobRun* run = impl_->run_at_work();
  return run ? run->current_round() : RoundKey{};
}
std::uint64_t Coordinator::model_version() const {
  const JobRun* run = impl_->run_at_work();
  return run ? run->version() : 0;
}
std::uint64_t Coordinator::model_hash() const {
  const JobRun* run = impl_->run_at_work();
  return run ? run->model_hash() : 0;
}
SharedFloats Coordinator::model() const {
  const JobRun* run = impl_->run_at_work();
  return run ? run->model() : nullptr;
}
SharedFloats Coordinator::aggregator_residual() const {
  const JobRun* run = impl_->run_at_work();
  return run ? run->aggregator_residual() : nullptr;
}

SharedFloats Coordinator::model_of(std::uint64_t job) const {
  const JobRun* run = impl_->run(job);
  return run ? run->model() : nullptr;
}
SharedBytes Coordinator::definition_of(std::uint64_t job) const {
  const JobRun* run = impl_->run(job);
  return run ? run->record().definition : nullptr;
}

std::uint64_t Coordinator::incoming_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : impl_->runs_) bytes += run->incoming_bytes();
  return bytes;
}

std::uint64_t Coordinator::buffered_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& run : impl_->runs_) bytes += run->buffered_bytes();
  return bytes;
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
