#include "core/sim/scenario/mutation.h"

#include "core/round/common/machine/bitmap.h"
#include "schemas/frame.h"

namespace tributary {

Bytes with_contributor(Bytes frame, std::uint32_t index) {
  if (wire::GetFrame(frame.data())->message_type() != wire::Message::Commit) return frame;
  wire::FrameT unpacked;
  wire::GetFrame(frame.data())->UnPackTo(&unpacked);
  wire::CommitT& commit = *unpacked.message.AsCommit();
  if (index >= commit.agents) return frame;
  for (const auto& round : commit.rounds) {
    for (const auto& set : round->contributor_sets) {
      Bitmap bits(set->bits, commit.agents);
      bits.set(index);
      set->bits = bits.bytes();
      set->contributors = bits.count();
    }
  }
  Result<Bytes> built = build_frame(unpacked);
  return built.ok() ? std::move(*built) : std::move(frame);
}

void ErrorForgetter::apply(AgentRecordToStore& record) {
  auto* const contribution = std::get_if<ContributionRecord>(&record);
  if (contribution == nullptr || ++count_ % 3 != 0) return;
  for (ContributionPart& part : contribution->parts) part.if_committed = nullptr;
}

// Replaces one in three residuals by the one that was stored before it.
void ResidualSkipper::apply(AgentRecordToStore& record) {
  SharedFloats* residual = nullptr;
  if (auto* replica = std::get_if<ReplicaRecord>(&record)) residual = &replica->residual;
  if (auto* contribution = std::get_if<ContributionRecord>(&record)) {
    residual = &contribution->residual;
  }
  if (residual == nullptr || *residual == nullptr) return;
  if (last_ && ++count_ % 3 == 0) {
    *residual = last_;
  } else {
    last_ = *residual;
  }
}

}  // namespace tributary
