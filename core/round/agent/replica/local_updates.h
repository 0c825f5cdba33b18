// Holds the updates that training has given and no commit has taken yet: the residual, and beside
// it the last update where a codec does not conserve (such an update is sent as it is, or not at
// all).
//
// The caller passes updates that are as long as the job's model and finite. Memory: at most one
// model for the residual and one for the update; an update is taken over without a copy unless
// another object holds it.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/round/common/machine/events.h"
#include "core/round/common/plan/residual_account.h"
#include "core/round/common/plan/round_plan.h"

namespace tributary {

class LocalUpdates {
 public:
  // Another job: nothing of the one before is left.
  void begin_job(std::uint64_t values);
  // From the journal, which may not be this job's: then it is an error. Lets go of the stored
  // residual once it is copied.
  Status restore(std::uint64_t values, ReplicaRecord& stored,
                 std::vector<UndecidedRound> undecided);

  ResidualAccount& residual() { return residual_; }
  const ResidualAccount& residual() const { return residual_; }

  // --- updates ---

  // Takes the end of an update from `part.first_value` on, where that frees a whole bucket of
  // `active` for encoding. False: it does not, and nothing has changed.
  bool take_part(const RoundPlan& trained, const RoundPlan& active, const UpdatePart& part);
  // Takes what it has not taken in parts of the update that was trained for this plan. A later
  // exchange's update is another one, and is taken whole.
  void take(const RoundPlan& trained, std::uint32_t exchange, std::shared_ptr<FloatVector> update);
  // The update of the plan's round is here, as its codecs need it.
  bool has_update_of(const RoundPlan& plan) const;
  // The round is committed: the update beside the residual is of no more use.
  void forget_update() { update_.reset(); }

  // --- what is encoded ---

  std::span<const float> input_of(const PlannedBucket& bucket);
  // All of it, of a plan with one codec; null: zeros.
  SharedFloats input_of(const RoundPlan& plan) const {
    return plan.conserves() ? residual_.shared() : update_;
  }
  // Holds every input that input_of() returns until then.
  std::vector<SharedFloats> hold() const { return {residual_.shared(), update_}; }

  // Settles the undecided rounds up to the offered model as the offer says; later ones stay open.
  // An error (not_found) where the offer does not say it of a round.
  Status settle_by(const wire::TransferOfferT& offer);

 private:
  void take_beside(const RoundPlan& plan, std::span<const float> update, float weight);

  ResidualAccount residual_;
  std::uint64_t values_ = 0;  // of the job's model
  SharedFloats update_;       // of the last round; null: none
};

}  // namespace tributary
