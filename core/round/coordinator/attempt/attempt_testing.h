// The common part of the tests of an attempt: an attempt at round 1 with one bucket.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/round/coordinator/attempt/attempt.h"
#include "core/round/coordinator/context/job_testing.h"

namespace tributary::round_testing {

class AttemptTest : public JobTest {
 protected:
  void begin(std::uint32_t agents, const Bitmap& participants) {
    open_epoch(agents);
    begin_in_epoch(agents, participants);
  }
  void begin_in_epoch(std::uint32_t agents) { begin_in_epoch(agents, Bitmap(agents, true)); }
  void begin_in_epoch(std::uint32_t agents, const Bitmap& participants) {
    auto attempt = Attempt::make(
        job_, membership_, repeats_, carried_,
        {.plan = make_plan(1, [&](PlanRequest& request) { request.participants = participants; }),
         .participants = participants,
         .deadline_ms = policy().deadline_ms,
         .budget = UploadBudget(coordinator_.config, agents, job_.model->values()),
         .residual = {}});
    ASSERT_TRUE(attempt.ok()) << attempt.status().text();
    attempt_ = *std::move(attempt);
  }
  void begin(std::uint32_t agents) { begin(agents, Bitmap(agents, true)); }
  BucketAggregation& bucket() { return *attempt_->round().buckets()[0]; }

  struct Sending {
    SentAs sent_as = SentAs::update;
    std::function<void(wire::PartT&)> change = {};
    std::uint32_t as_member = 0;
    float value = 1;
  };
  // The member sends its payload of the open stage in its session.
  bool send(std::uint32_t index, const Sending& sending) {
    const ActiveRound& round = attempt_->round();
    std::vector<ByteSpan> combined;
    for (const SharedBytes& stage : bucket().combined()) combined.emplace_back(*stage);
    const Bytes payload = payload_of(round.plan(), 0, sending.as_member, sending.value, combined);
    wire::PartT part = part_of(round.key(), 0, bucket().stage(), payload);
    if (sending.change) sending.change(part);
    return attempt_->receive_part(member(index), *Packed(part),
                                  {.sent_as = sending.sent_as, .agent_index = sending.as_member},
                                  payload);
  }
  bool send(std::uint32_t index) { return send(index, {.as_member = index}); }
  void send_result() {
    const std::uint32_t uploader = attempt_->round().plan().uploader(0);
    EXPECT_TRUE(send(uploader, {.sent_as = SentAs::result, .as_member = uploader}));
  }
  void pass_ms(std::uint32_t ms) { coordinator_.now += ms * kNsPerMs; }

  RepeatedBytes repeats_;
  CarriedUploads carried_{1u << 20};
  std::unique_ptr<Attempt> attempt_;
};

}  // namespace tributary::round_testing
