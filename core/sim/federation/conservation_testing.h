// Checks conservation over a whole federation: for each value, the sum of all updates equals the
// committed values plus the residuals. The ledger's accounts allow for rounding. Here the test sets
// the tolerance, and 0 requires equality.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/round/common/machine/records.h"
#include "core/round/common/plan/job_model.h"
#include "core/round/common/plan/round_plan.h"
#include "core/round/common/session/conversation.h"

namespace tributary::sim_testing {

class Conservation {
 public:
  explicit Conservation(std::uint64_t values) : balance_(values), magnitude_(values) {}

  // Adds an update that counts.
  void given(const FloatVector& update) {
    for (std::size_t i = 0; i < update.size(); ++i) {
      balance_[i] += static_cast<double>(update[i]);
      magnitude_[i] += std::abs(static_cast<double>(update[i]));
    }
  }
  // A null residual counts as zeros.
  void held_back(const SharedFloats& residual) {
    if (residual) subtract(0, *residual);
  }
  // Subtracts the committed values, which are decoded from the payloads of the commit.
  void committed(const CommitRecord& commit, const JobModel& job) {
    const Result<const wire::Frame*> frame = open_frame(*commit.round.plan);
    ASSERT_TRUE(frame.ok()) << frame.status().text();
    wire::PlanT wire;
    (*frame)->message_as_Plan()->UnPackTo(&wire);
    const auto plan = RoundPlan::make(wire, job, cache_);
    ASSERT_TRUE(plan.ok()) << plan.status().text();
    for (const OutcomeRecord& outcome : commit.round.outcomes) {
      CommittedBucket bucket{
          .bucket = outcome.bucket, .divisor = 1, .contributors = 1, .combined = {}};
      bucket.contributors = commit.round.contributor_sets[outcome.contributor_set].contributors;
      for (const RedoPayload& redo : commit.redo) {
        if (redo.bucket == outcome.bucket) bucket.combined.emplace_back(*redo.payload);
      }
      FloatVector sum;
      ASSERT_TRUE(decode_bucket(**plan, bucket, {}, sum).ok());
      subtract((*plan)->buckets()[outcome.bucket].first_value, sum);
    }
  }
  // `tolerance` is relative to the magnitude that the updates moved in each value.
  void expect_balanced(double tolerance) const {
    for (std::size_t i = 0; i < balance_.size(); ++i) {
      ASSERT_LE(std::abs(balance_[i]), tolerance * magnitude_[i]) << "value " << i;
    }
  }

 private:
  void subtract(std::uint64_t first, std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      balance_[first + i] -= static_cast<double>(values[i]);
    }
  }

  // For each value: updates minus committed values and residuals.
  std::vector<double> balance_;
  // For each value: the sum of the updates' magnitudes.
  std::vector<double> magnitude_;
  CodecCache cache_;
};

}  // namespace tributary::sim_testing
