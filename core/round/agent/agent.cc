#include "core/round/agent/agent.h"

#include <utility>

#include "core/base/bytes/checksum.h"
#include "core/round/agent/agent_impl.h"

namespace tributary {

Agent::Agent(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Agent::~Agent() = default;

Result<std::unique_ptr<Agent>> Agent::make(AgentConfig config, AgentState state) {
  auto impl = std::make_unique<Impl>(std::move(config));
  TRIBUTARY_TRY(impl->restore(std::move(state)));
  return std::unique_ptr<Agent>(new Agent(std::move(impl)));
}

Actions Agent::handle(TimeNs now, Event event) { return impl_->handle(now, event); }
TimeNs Agent::next_wakeup_ns() const { return impl_->next_wakeup_ns(); }

// --- views -------------------------------------------------------------------------------------

bool Agent::idle() const { return impl_->context_.store.empty() && impl_->session_.idle(); }
bool Agent::connected() const { return impl_->session_.is_open(); }
wire::Activity Agent::activity() const { return impl_->activity(); }
std::uint64_t Agent::job() const { return impl_->replica_.job_id(); }
RoundKey Agent::current_round() const {
  const AgentRound* round = impl_->rounds_.current();
  return round ? round->key() : RoundKey{};
}
std::uint64_t Agent::model_version() const { return impl_->replica_.version(); }
std::uint64_t Agent::model_hash() const { return impl_->replica_.id().hash; }
SharedFloats Agent::model() const { return impl_->replica_.model(); }
SharedFloats Agent::residual() const { return impl_->updates_.residual().shared(); }
// Counts values from the start of the model: training hands over the end of an update first, so the
// missing part is always a prefix.
std::uint64_t Agent::missing_of_update(std::uint64_t round) const {
  const LocalTraining::Running* training = impl_->participation_.training().running();
  if (training && training->exchange > 0 && training->plan->key().round == round) {
    return impl_->replica_.job()->values();  // the residual has the update of an earlier exchange
  }
  return impl_->updates_.residual().missing(round);
}
double Agent::residual_unit() const { return impl_->updates_.residual().stamp().learning_rate; }
std::uint64_t Agent::updates_taken() const {
  return impl_->updates_.residual().stamp().updates_taken;
}
std::vector<UndecidedRound> Agent::undecided() const {
  return impl_->updates_.residual().undecided();
}

// Covers received and unsent payloads only. The model, the residual and the update that is being
// trained have a fixed size and are not part of the sum.
std::uint64_t Agent::buffered_bytes() const {
  return impl_->peers_.bytes() + impl_->rounds_.bytes() + impl_->participation_.upload().bytes() +
         impl_->transfer_.bytes();
}

// The simulator compares this hash between two runs of one seed. It therefore contains only values
// that a run determines: no durations, no tokens and no message ids.
std::uint64_t Agent::state_hash() const {
  Checksum checksum;
  const auto add = [&](const auto& value) {
    checksum.update({reinterpret_cast<const std::uint8_t*>(&value), sizeof(value)});
  };
  const ModelId& model = impl_->replica_.id();
  add(model.version);
  add(model.hash);
  const std::uint32_t epoch = impl_->peers_.epoch();
  add(epoch);
  const RoundKey round = current_round();
  add(round.round);
  add(round.epoch);
  add(round.attempt);
  const std::uint64_t taken = updates_taken();
  add(taken);
  if (const SharedFloats values = residual()) {
    checksum.update(bytes_of(std::span<const float>(*values)));
  }
  for (const UndecidedRound& undecided : impl_->updates_.residual().undecided()) {
    add(undecided.id.round);
    add(undecided.id.attempt);
    for (const ContributionPart& part : undecided.parts) {
      add(part.values);
      if (part.if_committed) {
        checksum.update(bytes_of(std::span<const float>(*part.if_committed)));
      }
    }
  }
  return checksum.finish64();
}

}  // namespace tributary
